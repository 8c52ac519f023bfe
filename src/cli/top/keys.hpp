// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/state.hpp"
#include "cli/top/terminal.hpp"

namespace hmn::cli::top {

// What a key asks of the loop.
enum class Request { none, quit, send_signal, redraw };

// Applies a key to the state. `page_lines`: visible lines of the list.
Request press(State& in, KeyPress pressed, std::size_t page_lines);

// Key and what it does, for help and hints.
struct KeyHelp {
  std::string_view keys;
  std::string_view effect;
};
std::span<const KeyHelp> all_key_help();

}  // namespace hmn::cli::top
