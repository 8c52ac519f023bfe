// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/text/arguments.hpp"

namespace hmn::cli {
namespace {

constexpr std::string_view report_suffixes[] = {".json"};

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

unsigned choose_shift(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::string> Arguments::text(std::string_view name) const {
  const auto it = values_.find(name);
  if (it == values_.end() || it->second.empty()) return std::nullopt;
  return it->second.back();
}

std::vector<std::string> Arguments::all(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

std::optional<Failure> read_interval(const Arguments& arguments, std::uint32_t& interval_ms) {
  const auto text = arguments.text("--interval");
  if (!text) return std::nullopt;
  const auto interval = parse_interval(*text);
  if (!interval) return interval.error();
  interval_ms = *interval;
  return std::nullopt;
}

std::optional<Failure> read_duration(const Arguments& arguments, const char* name,
                                     std::optional<std::uint64_t>& duration_ms) {
  const auto text = arguments.text(name);
  if (!text) return std::nullopt;
  const auto time = parse_duration_option(name, *text);
  if (!time) return time.error();
  duration_ms = *time;
  return std::nullopt;
}

std::optional<Failure> read_milliseconds(const Arguments& arguments, const char* name,
                                         std::uint32_t& milliseconds, std::uint64_t max_ms) {
  std::optional<std::uint64_t> time;
  if (auto failure = read_duration(arguments, name, time)) return failure;
  if (time) milliseconds = static_cast<std::uint32_t>(std::min(*time, max_ms));
  return std::nullopt;
}

std::optional<Failure> read_count(const Arguments& arguments, const char* name,
                                  std::optional<std::uint64_t>& count) {
  const auto text = arguments.text(name);
  if (!text) return std::nullopt;
  count = parse_number<std::uint64_t>(*text);
  if (count && *count > 0) return std::nullopt;
  return make_usage_error(
      fmt::format("{} \"{}\": expected a whole number of at least 1", name, *text));
}

std::optional<Failure> read_sort(const Arguments& arguments,
                                 std::span<const std::string_view> choices, SortKey& sort) {
  const auto text = arguments.text("--sort");
  if (!text) return std::nullopt;
  const auto key = parse_sort_key(*text, choices);
  if (!key) return key.error();
  sort = *key;
  return std::nullopt;
}

std::optional<Failure> read_text(const Arguments& arguments, std::string_view name,
                                 std::string_view expected_value,
                                 std::optional<std::string>& text) {
  text = arguments.text(name);
  return refuse_empty(name, text, expected_value);
}

std::optional<std::uint32_t> parse_whole_number(std::string_view text) {
  return parse_number<std::uint32_t>(text);
}

std::optional<Failure> read_reports(const Arguments& arguments,
                                    std::vector<OutputTarget>& reports) {
  std::optional<std::string> output;
  if (auto failure = read_text(arguments, "--output", expected_path_or_dash, output))
    return failure;
  if (arguments.has("--json")) reports.push_back({"--json", "-", {}, false});
  if (output) reports.push_back({"--output", *output, report_suffixes, arguments.has("--force")});
  return std::nullopt;
}

std::optional<Failure> check_exclusive(const Arguments& arguments, std::string_view first,
                                       std::string_view second) {
  if (!arguments.has(first) || !arguments.has(second)) return std::nullopt;
  return make_usage_error(fmt::format("{} and {}: only one of them", first, second));
}

std::optional<std::uint64_t> parse_token_count(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != '_' && c != ',') digits += c;
  const auto shift = digits.empty() ? 0 : choose_shift(digits.back());
  if (shift != 0) digits.pop_back();
  std::uint64_t number = 0;
  const auto end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  if (number > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return number << shift;
}

}  // namespace hmn::cli
