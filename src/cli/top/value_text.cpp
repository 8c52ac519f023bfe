// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/value_text.hpp"

#include <fmt/format.h>

#include "cli/text/axis.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {

value_text unknown_value_text() {
  return {"?", ink::faint};
}

value_text bytes_text(std::optional<std::uint64_t> bytes, std::string_view mark) {
  if (!bytes) return unknown_value_text();
  return {std::string(mark) + short_bytes(static_cast<double>(*bytes))};
}

value_text rate_text(std::optional<double> bytes_per_second) {
  if (!bytes_per_second) return unknown_value_text();
  return {short_bytes(*bytes_per_second) + "/s"};
}

value_text percent_text(std::optional<double> percent, ramp with) {
  if (!percent) return unknown_value_text();
  return {fmt::format("{:.0f}%", *percent), ink_of(with, *percent / 100)};
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
