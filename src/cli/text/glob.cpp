// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/glob.hpp"

#include <optional>

#include "cli/text/utf8.hpp"

namespace hmn::cli {
namespace {

char32_t take(std::string_view& text) noexcept {
  const auto next = first_code_point(text);
  text.remove_prefix(next.length);
  return next.value;
}

struct set_match {
  bool matches;
  std::string_view rest;  // of the pattern, after the ]
};

// Starts after "["; returns none for a set that is never closed.
std::optional<set_match> match_set(std::string_view pattern, char32_t c) noexcept {
  const bool negated = pattern.starts_with('!') || pattern.starts_with('^');
  if (negated) pattern.remove_prefix(1);
  bool found = false;
  for (bool first = true; !pattern.empty(); first = false) {
    auto low = take(pattern);
    if (low == ']' && !first) return set_match{found != negated, pattern};
    if (low == '\\' && !pattern.empty()) low = take(pattern);
    auto high = low;
    if (pattern.size() > 1 && pattern[0] == '-' && pattern[1] != ']') {
      pattern.remove_prefix(1);
      high = take(pattern);
    }
    found = found || (low <= c && c <= high);
  }
  return std::nullopt;
}

// Matches one code point of text against one element of pattern and advances both.
bool match_one(std::string_view& pattern, std::string_view& text) noexcept {
  if (pattern.empty() || text.empty()) return false;
  const auto c = take(text);
  const auto element = take(pattern);
  if (element == '?') return true;
  if (element == '[') {
    if (const auto set = match_set(pattern, c)) {
      pattern = set->rest;
      return set->matches;
    }
  }
  if (element == '\\' && !pattern.empty()) return take(pattern) == c;
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
    if (match_one(pattern, text)) continue;
    if (!star_pattern || star_text.empty()) return false;
    take(star_text);
    pattern = *star_pattern;
    text = star_text;
  }
  return true;
}

}  // namespace hmn::cli
