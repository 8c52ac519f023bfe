// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/decimal_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "model/decimal.hpp"

namespace hmn::cli {

double move_decimal_point(double value, int places) {
  if (places == 0 || !std::isfinite(value)) return value;
  char shortest[32];
  const std::string_view numeral(
      shortest, static_cast<std::size_t>(write_shortest(shortest, value) - shortest));
  const auto mark = std::min(numeral.find('e'), numeral.size());
  auto power = numeral.substr(std::min(mark + 1, numeral.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  int exponent = 0;
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  const auto moved = fmt::format("{}e{}", numeral.substr(0, mark), exponent + places);
  return read_decimal(moved).value_or(value * std::pow(10, places));
}

}  // namespace hmn::cli
