// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "cli/text/unicode.hpp"
#include "model/character.hpp"
#include "model/decimal.hpp"
#include "model/similar_word.hpp"

namespace hmn::cli {

Expected<std::size_t> choose_word(std::string_view option, std::string_view text,
                                  std::span<const std::string_view> words) {
  const auto it = std::find(words.begin(), words.end(), text);
  if (it != words.end()) return static_cast<std::size_t>(it - words.begin());
  return make_usage_error(fmt::format("{} \"{}\": expected {} or {}", option, text,
                                      fmt::join(words.first(words.size() - 1), ", "),
                                      words.back()));
}

std::string suggest_word(std::string_view word, std::span<const std::string_view> words) {
  const auto suggestion = find_similar_word(word, words);
  return suggestion.empty() ? std::string() : fmt::format("; did you mean {}?", suggestion);
}

std::vector<std::string_view> split_list(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<Failure> refuse_empty(std::string_view option, const std::optional<std::string>& text,
                                    std::string_view expected_value) {
  if (!text || !text->empty()) return std::nullopt;
  return make_usage_error(fmt::format("{} \"\": expected {}", option, expected_value));
}

namespace {

constexpr std::string_view unit_names = "ms, s, m or h";
constexpr std::string_view expected_duration =
    "expected a number of seconds, or with a unit (ms, s, m or h), as in 0.5 or 500ms";

std::string_view trim(std::string_view text) {
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

}  // namespace

Expected<std::uint64_t> parse_duration(std::string_view text) {
  constexpr double uint64_limit = 18446744073709551616.0;
  const auto body = trim(text);
  const auto number_end = std::min(body.find_first_not_of("0123456789."), body.size());
  const auto digits = body.substr(0, number_end);
  const auto unit = body.substr(number_end);
  const auto number = digits.ends_with('.') ? std::nullopt : read_decimal(digits);
  if (!number) return make_usage_error(fmt::format("\"{}\": {}", text, expected_duration));
  const auto factor = milliseconds_per(unit.empty() ? "s" : unit);
  if (factor == 0)
    return make_usage_error(
        fmt::format("\"{}\": unknown unit \"{}\" (expected {})", text, unit, unit_names));
  const double milliseconds = std::round(*number * static_cast<double>(factor));
  if (milliseconds < 1)
    return make_usage_error(fmt::format("\"{}\": expected a time of at least 1ms", text));
  return milliseconds < uint64_limit ? static_cast<std::uint64_t>(milliseconds)
                                     : std::numeric_limits<std::uint64_t>::max();
}

Expected<std::uint64_t> parse_duration_option(const char* option, const std::string& text) {
  auto milliseconds = parse_duration(text);
  if (!milliseconds)
    return make_usage_error(fmt::format("{} {}", option, milliseconds.error().message));
  return milliseconds;
}

Expected<std::uint32_t> parse_interval(const std::string& text) {
  const auto interval = parse_duration_option("--interval", text);
  if (!interval) return interval.error();
  if (*interval > std::numeric_limits<std::uint32_t>::max())
    return make_usage_error(fmt::format("--interval \"{}\": is longer than 49 days", text));
  return static_cast<std::uint32_t>(*interval);
}

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::uint64_t ki = 1024;
constexpr std::uint64_t k = 1000;
// In lower case.
constexpr Unit size_units[] = {{"b", 1},
                               {"kib", ki},
                               {"mib", ki* ki},
                               {"gib", ki* ki* ki},
                               {"tib", ki* ki* ki* ki},
                               {"ki", ki},
                               {"mi", ki* ki},
                               {"gi", ki* ki* ki},
                               {"ti", ki* ki* ki* ki},
                               {"k", ki},
                               {"m", ki* ki},
                               {"g", ki* ki* ki},
                               {"t", ki* ki* ki* ki},
                               {"kb", k},
                               {"mb", k* k},
                               {"gb", k* k* k},
                               {"tb", k* k* k* k}};

constexpr std::size_t max_decimals = 6;

bool parse_digits(std::string_view text, std::uint64_t& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

Failure make_size_error(std::string_view text, std::string_view reason) {
  return make_usage_error(fmt::format("\"{}\": {}", text, reason));
}

}  // namespace

Expected<std::uint64_t> parse_size_argument(std::string_view text) {
  constexpr std::string_view expected_format =
      "expected a number and a unit: B, KiB to TiB, K to T, or KB to TB, in any case";
  const auto number_end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = text.substr(0, number_end);
  auto name = text.substr(number_end);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  if (number.empty()) return make_size_error(text, expected_format);
  if (name.empty() && number.find_first_not_of("0.") == std::string_view::npos)
    return make_size_error(text, expected_format);
  if (name.empty())
    return make_usage_error(fmt::format("{0}: did you mean {0}GiB or {0}MiB?", number));
  // "m" is a thousandth in Kubernetes' sizes, and a minute in the options that are times.
  if (name == "m")
    return make_usage_error(fmt::format("\"{0}\": did you mean {1}M or {1}MiB?", text, number));
  const auto* const size_unit = std::find_if(std::begin(size_units), std::end(size_units),
                                             [unit_name = lower_case(name)](const Unit& candidate) {
                                               return candidate.name == unit_name;
                                             });
  if (size_unit == std::end(size_units)) return make_size_error(text, expected_format);

  const auto dot = number.find('.');
  const auto whole = number.substr(0, dot);
  const auto decimals = dot == std::string_view::npos ? std::string_view{} : number.substr(dot + 1);
  if (dot != std::string_view::npos && (decimals.empty() || decimals.size() > max_decimals))
    return make_size_error(text, "expected one to six decimals");
  std::uint64_t whole_number = 0;
  std::uint64_t fraction = 0;
  if (!parse_digits(whole, whole_number) ||
      (!decimals.empty() && !parse_digits(decimals, fraction)))
    return make_size_error(text, whole.size() > 18 ? "is too large" : expected_format);
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < decimals.size(); ++i) scale *= 10;
  // Below 10^6 * 2^40. Rounded up, so that the memory suffices.
  const std::uint64_t fraction_bytes = (fraction * size_unit->bytes + scale - 1) / scale;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(whole_number, size_unit->bytes, &bytes) ||
      __builtin_add_overflow(bytes, fraction_bytes, &bytes))
    return make_size_error(text, "is too large");
  if (bytes == 0) return make_size_error(text, "expected a size greater than zero");
  return bytes;
}

namespace {

char32_t take_code_point(std::string_view& text) noexcept {
  const auto next = first_code_point(text);
  text.remove_prefix(next.length);
  return next.value;
}

struct SetMatch {
  bool matches;
  std::string_view rest;  // of the pattern, after the ]
};

// Starts after "["; returns none for a set that is never closed.
std::optional<SetMatch> match_set(std::string_view pattern, char32_t c) noexcept {
  const bool is_negated = pattern.starts_with('!') || pattern.starts_with('^');
  if (is_negated) pattern.remove_prefix(1);
  bool is_member = false;
  for (bool first = true; !pattern.empty(); first = false) {
    auto low = take_code_point(pattern);
    if (low == ']' && !first) return SetMatch{is_member != is_negated, pattern};
    if (low == '\\' && !pattern.empty()) low = take_code_point(pattern);
    auto high = low;
    if (pattern.size() > 1 && pattern[0] == '-' && pattern[1] != ']') {
      pattern.remove_prefix(1);
      high = take_code_point(pattern);
    }
    is_member = is_member || (low <= c && c <= high);
  }
  return std::nullopt;
}

// Matches one code point of text against one element of pattern and advances both.
bool match_code_point(std::string_view& pattern, std::string_view& text) noexcept {
  if (pattern.empty() || text.empty()) return false;
  const auto c = take_code_point(text);
  const auto element = take_code_point(pattern);
  if (element == '?') return true;
  if (element == '[') {
    if (const auto set = match_set(pattern, c)) {
      pattern = set->rest;
      return set->matches;
    }
  }
  if (element == '\\' && !pattern.empty()) return take_code_point(pattern) == c;
  return element == c;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
  std::optional<std::string_view> star_pattern;
  std::string_view star_text;
  while (!text.empty() || !pattern.empty()) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      star_pattern = pattern;
      star_text = text;
      continue;
    }
    if (match_code_point(pattern, text)) continue;
    if (!star_pattern || star_text.empty()) return false;
    take_code_point(star_text);
    pattern = *star_pattern;
    text = star_text;
  }
  return true;
}

bool is_selected(const std::optional<std::string>& pattern,
                 const std::optional<std::string>& text) {
  return !pattern || (text && glob_matches(lower_case(*pattern), lower_case(*text)));
}

}  // namespace hmn::cli
