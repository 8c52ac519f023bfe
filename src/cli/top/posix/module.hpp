// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/terminal.hpp"

// The terminal is the module "screen", but part of a command that is one file.
extern "C" void hmn_screen_open(
    const std::string* kind, bool has_colour,
    hmn::cli::expected<std::unique_ptr<hmn::cli::top::terminal>>* result);
