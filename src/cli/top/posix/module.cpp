// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/posix/module.hpp"

[[gnu::visibility("default")]] void hmn_screen_open(
    const std::string* kind, bool has_colour,
    hmn::cli::expected<std::unique_ptr<hmn::cli::top::terminal>>* result) {
  *result = hmn::cli::top::open_terminal(*kind, has_colour);
}
