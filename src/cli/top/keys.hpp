// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/state.hpp"
#include "cli/top/terminal.hpp"

namespace hmn::cli::top {

// What the main loop has to do after a key.
enum class KeyAction { none, quit, send_signal, redraw };

// Applies a key to the state. `page_lines`: visible lines of the list.
KeyAction handle_key(State& state, KeyPress press, std::size_t page_lines);

// Keys and their effect, for help and hints.
struct KeyHelp {
  std::string_view keys;
  std::string_view effect;
};
std::span<const KeyHelp> all_key_help();

}  // namespace hmn::cli::top
