// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace hmn::cli {
namespace {

constexpr std::string_view unit_names = "ms, s, m or h";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::uint64_t milliseconds_per(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s") return 1000;
  if (unit == "m") return 60'000;
  if (unit == "h") return 3'600'000;
  return 0;
}

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  constexpr auto highest = std::numeric_limits<std::uint64_t>::max();
  return a > highest / b ? highest : a * b;
}

}  // namespace

expected<std::uint64_t> parse_duration(std::string_view text) {
  const auto body = trimmed(text);
  const auto digit_count = std::min(body.find_first_not_of("0123456789"), body.size());
  const auto digits = body.substr(0, digit_count);
  const auto unit = body.substr(digit_count);
  if (digits.empty())
    return misused(
        fmt::format("\"{}\": expected a whole number and a unit ({})", text, unit_names));

  std::uint64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc{})
    return misused(fmt::format("\"{}\": {} is too large", text, digits));
  if (unit.starts_with('.'))
    return misused(fmt::format("\"{}\": expected a whole number and a unit ({}), as in 500ms", text,
                               unit_names));
  if (number == 0) return misused(fmt::format("\"{}\": expected a time greater than zero", text));
  if (unit.empty()) return misused(fmt::format("{0}: did you mean {0}s or {0}ms?", digits));
  const auto factor = milliseconds_per(unit);
  if (factor == 0)
    return misused(
        fmt::format("\"{}\": unknown unit \"{}\" (expected {})", text, unit, unit_names));
  return saturating_product(number, factor);
}

expected<std::uint64_t> parse_time(const char* option, const std::string& text) {
  auto milliseconds = parse_duration(text);
  if (!milliseconds) return misused(fmt::format("{} {}", option, milliseconds.why().message));
  return milliseconds;
}

expected<std::uint32_t> parse_interval(const std::string& text) {
  const auto interval = parse_time("--interval", text);
  if (!interval) return interval.why();
  if (*interval > std::numeric_limits<std::uint32_t>::max())
    return misused(fmt::format("--interval \"{}\": is longer than 49 days", text));
  return static_cast<std::uint32_t>(*interval);
}

}  // namespace hmn::cli
