// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/state.hpp"
#include "cli/top/terminal.hpp"

namespace hmn::cli::top {

// What a key asks of the loop.
enum class request { none, quit, send_signal, redraw };

// Applies a key to the state. `page_lines`: visible lines of the list.
request press(state& in, key_press pressed, std::size_t page_lines);

// Key and what it does, for help and hints.
struct key_help {
  std::string_view keys;
  std::string_view effect;
};
std::span<const key_help> all_key_help();

}  // namespace hmn::cli::top
