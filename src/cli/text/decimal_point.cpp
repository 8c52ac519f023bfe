// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/decimal_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "model/decimal.hpp"

namespace hmn::cli {
namespace {

constexpr double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// Returns whether one operation rounds as reading the numeral would: both operands are exact.
bool has_exact_factor(double value, int places) {
  constexpr double whole_below = 1ULL << 53;
  return std::abs(places) < int{std::size(powers)} && std::abs(value) < whole_below &&
         value == std::trunc(value);
}

}  // namespace

double move_decimal_point(double value, int places) {
  if (places == 0 || !std::isfinite(value)) return value;
  if (has_exact_factor(value, places))
    return places < 0 ? value / powers[-places] : value * powers[places];
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
