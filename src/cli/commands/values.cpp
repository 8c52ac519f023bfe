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
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

unsigned shift_of(char suffix) {
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
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Arguments::all(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::optional<Failure> read_interval(const Arguments& from, std::uint32_t& to) {
  const auto text = from.text("--interval");
  if (!text) return std::nullopt;
  const auto interval = parse_interval(*text);
  if (!interval) return interval.why();
  to = *interval;
  return std::nullopt;
}

std::optional<Failure> read_time(const Arguments& from, const char* name,
                                 std::optional<std::uint64_t>& to) {
  const auto text = from.text(name);
  if (!text) return std::nullopt;
  const auto time = parse_time(name, *text);
  if (!time) return time.why();
  to = *time;
  return std::nullopt;
}

std::optional<Failure> read_milliseconds(const Arguments& from, const char* name, std::uint32_t& to,
                                         std::uint64_t longest) {
  std::optional<std::uint64_t> time;
  if (auto wrong = read_time(from, name, time)) return wrong;
  if (time) to = static_cast<std::uint32_t>(std::min(*time, longest));
  return std::nullopt;
}

std::optional<Failure> read_count(const Arguments& from, const char* name,
                                  std::optional<std::uint64_t>& to) {
  const auto text = from.text(name);
  if (!text) return std::nullopt;
  to = number_in<std::uint64_t>(*text);
  if (to && *to > 0) return std::nullopt;
  return misused(fmt::format("{} \"{}\": expected a whole number of at least 1", name, *text));
}

std::optional<Failure> read_sort(const Arguments& from, std::span<const std::string_view> among,
                                 SortKey& to) {
  const auto text = from.text("--sort");
  if (!text) return std::nullopt;
  const auto key = parse_sort_key(*text, among);
  if (!key) return key.why();
  to = *key;
  return std::nullopt;
}

std::optional<Failure> read_text(const Arguments& from, std::string_view name,
                                 std::string_view wanted, std::optional<std::string>& to) {
  to = from.text(name);
  return refuse_empty(name, to, wanted);
}

std::optional<std::uint32_t> whole_number(std::string_view text) {
  return number_in<std::uint32_t>(text);
}

std::optional<Failure> read_reports(const Arguments& from, std::vector<FileToWrite>& to) {
  std::optional<std::string> output;
  if (auto wrong = read_text(from, "--output", a_path_or_dash, output)) return wrong;
  if (from.has("--json")) to.push_back({"--json", "-", {}, false});
  if (output) to.push_back({"--output", *output, report_suffixes, from.has("--force")});
  return std::nullopt;
}

std::optional<Failure> only_one_of(const Arguments& from, std::string_view one,
                                   std::string_view other) {
  if (!from.has(one) || !from.has(other)) return std::nullopt;
  return misused(fmt::format("{} and {}: only one of them", one, other));
}

std::optional<std::uint64_t> parse_token_count(std::string_view text) {
  std::string digits;
  for (const char each : text)
    if (each != '_' && each != ',') digits += each;
  const auto shift = digits.empty() ? 0 : shift_of(digits.back());
  if (shift != 0) digits.pop_back();
  std::uint64_t number = 0;
  const auto end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  if (number > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return number << shift;
}

}  // namespace hmn::cli
