// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/likely_word.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/character.hpp"

namespace hmn {
namespace {

constexpr std::size_t likely_slip = 2;    // edits
constexpr std::size_t longest_slip = 64;  // bytes of a word that are compared

// Computes the distance of Damerau and Levenshtein, without regard to case: two neighbours that
// changed places are one edit, so that "wiat" is closer to "wait" than to "fit".
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto is_same = [&](std::size_t of_a, std::size_t of_b) {
        return equal_ignoring_case(a[of_a - 1], b[of_b - 1]);
      };
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (is_same(i, j) ? 0 : 1)});
      if (i > 1 && j > 1 && is_same(i, j - 1) && is_same(i - 1, j))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view likely_word(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t fewest = std::min(likely_slip, word.size() / 2) + 1;
  if (word.size() > longest_slip) return best;
  for (const auto each : known) {
    const auto edits = edits_between(word, each);
    if (edits >= fewest) continue;
    fewest = edits;
    best = each;
  }
  return best;
}

}  // namespace hmn
