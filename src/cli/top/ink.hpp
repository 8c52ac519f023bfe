// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>

#include "cli/text/colour.hpp"

namespace hmn::cli::top {

// Scale of colours of a quantity, from low to high.
enum class ramp : std::uint8_t { load, memory, power, heat };
inline constexpr unsigned ramp_count = 4;
inline constexpr unsigned ramp_steps = 8;

// Colour and emphasis of a cell. After `last_word` follow the steps of the ramps.
enum class ink : std::uint8_t {
  plain,
  strong,
  faint,
  good,
  warning,
  bad,
  title,   // the program's name, headings
  border,  // frames of charts
  accent,  // keys, the column that sorts
  last_word = accent
};
inline constexpr unsigned ink_count =
    static_cast<unsigned>(ink::last_word) + 1 + ramp_count * ramp_steps;

// Returns the ink of a fraction of 0 to 1.
ink ink_of(ramp scale, double fraction) noexcept;
ink ink_of(tone with) noexcept;

// Look of an ink on a terminal.
struct look {
  short colour = -1;        // of 256; -1: the terminal's own
  short basic_colour = -1;  // of 8
  bool is_bold = false;
  bool is_dim = false;
};
look look_of(ink with) noexcept;

}  // namespace hmn::cli::top
