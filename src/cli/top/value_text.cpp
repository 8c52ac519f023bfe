// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/value_text.hpp"

#include <fmt/format.h>

#include "cli/text/axis.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {

value_text missing_text(bool is_unsupported) {
  return {std::string(sign_of_missing(is_unsupported)), ink::faint};
}

value_text bytes_text(std::optional<std::uint64_t> bytes, std::string_view mark,
                      bool is_unsupported) {
  if (!bytes) return missing_text(is_unsupported);
  return {std::string(mark) + short_bytes(static_cast<double>(*bytes))};
}

value_text rate_text(std::optional<double> bytes_per_second, bool is_unsupported) {
  if (!bytes_per_second) return missing_text(is_unsupported);
  return {short_bytes(*bytes_per_second) + "/s"};
}

value_text percent_text(std::optional<double> percent, ramp with, bool is_unsupported) {
  if (!percent) return missing_text(is_unsupported);
  return {fmt::format("{:.0f}%", *percent), ink_of(with, *percent / 100)};
}

std::string degrees_text(double celsius, bool unicode) {
  return fmt::format("{:.0f}{}", celsius, unicode ? "\u00b0C" : "C");
}

std::string elapsed_text(std::uint64_t ns) {
  const auto seconds = ns / static_cast<std::uint64_t>(ns_per_s);
  const auto minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return fmt::format("{}d{:02}h", days, hours % 24);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes % 60, seconds % 60);
  if (minutes > 0) return fmt::format("{}:{:02}", minutes, seconds % 60);
  return fmt::format("{}s", seconds);
}

}  // namespace hmn::cli::top
