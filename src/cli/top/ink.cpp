// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/ink.hpp"

#include <algorithm>

namespace hmn::cli::top {
namespace {

enum basic : short { red = 1, green, yellow, blue, magenta, cyan };

struct ramp_look {
  short colours[ramp_steps];
  short low, middle, high;  // of 8 colours
};
constexpr ramp_look ramp_looks[ramp_count] = {
    {{71, 107, 143, 179, 215, 209, 203, 197}, green, yellow, red},
    {{61, 62, 68, 69, 75, 74, 80, 86}, blue, cyan, cyan},
    {{95, 131, 137, 173, 179, 215, 221, 227}, yellow, yellow, red},
    {{66, 72, 108, 144, 180, 216, 210, 203}, green, magenta, red},
};

constexpr unsigned first_of_ramps = static_cast<unsigned>(ink::last_word) + 1;

look look_of_ramp(unsigned position) noexcept {
  const auto& scale = ramp_looks[position / ramp_steps];
  const auto step = position % ramp_steps;
  const short basic_colour = step < 3 ? scale.low : step < 6 ? scale.middle : scale.high;
  return {scale.colours[step], basic_colour, false, false};
}

}  // namespace

ink ink_of(ramp scale, double fraction) noexcept {
  const auto step = static_cast<unsigned>(std::clamp(fraction, 0.0, 1.0) * (ramp_steps - 1) + 0.5);
  return static_cast<ink>(first_of_ramps + static_cast<unsigned>(scale) * ramp_steps + step);
}

ink ink_of(tone with) noexcept {
  switch (with) {
    case tone::strong:
      return ink::strong;
    case tone::faint:
      return ink::faint;
    case tone::good:
      return ink::good;
    case tone::warning:
      return ink::warning;
    case tone::bad:
      return ink::bad;
    case tone::plain:
      break;
  }
  return ink::plain;
}

look look_of(ink with) noexcept {
  switch (with) {
    case ink::plain:
      return {};
    case ink::strong:
      return {-1, -1, true, false};
    case ink::faint:
      return {245, -1, false, true};
    case ink::good:
      return {71, green, false, false};
    case ink::warning:
      return {179, yellow, false, false};
    case ink::bad:
      return {203, red, true, false};
    case ink::title:
      return {75, cyan, true, false};
    case ink::border:
      return {240, -1, false, true};
    case ink::accent:
      return {80, cyan, false, false};
  }
  return look_of_ramp(static_cast<unsigned>(with) - first_of_ramps);
}

}  // namespace hmn::cli::top
