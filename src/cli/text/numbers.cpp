// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/numbers.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace hmn::cli {

std::string ranges_text(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? ", " : "-", numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string gib_text(std::uint64_t bytes) {
  constexpr double bytes_per_gib = 1ull << 30;
  constexpr double least_shown = 0.05, from_whole = 999.95;
  const double gib = static_cast<double>(bytes) / bytes_per_gib;
  if (bytes == 0) return "0";
  if (gib < least_shown) return "<0.1";
  return fmt::format("{:.{}f}", gib, gib < from_whole ? 1 : 0);
}

}  // namespace hmn::cli
