// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

#include "cli/text/plot.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Draws a plot with characters, as wide as the terminal.
std::string text_of(const plot& of, const style& as);

}  // namespace hmn::cli
