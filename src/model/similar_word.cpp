// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/similar_word.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/character.hpp"

namespace hmn {
namespace {

constexpr std::size_t max_edits = 2;    // edits
constexpr std::size_t max_length = 64;  // bytes; longer words are not compared

// Computes the distance of Damerau and Levenshtein, without regard to case: two neighbours that
// changed places are one edit, so that "wiat" is closer to "wait" than to "fit".
std::size_t count_edits(std::string_view first, std::string_view second) {
  std::vector<std::size_t> second_last(second.size() + 1), last(second.size() + 1),
      row(second.size() + 1);
  for (std::size_t j = 0; j <= second.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= first.size(); ++i) {
    second_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= second.size(); ++j) {
      const auto is_same = [&](std::size_t a_length, std::size_t b_length) {
        return equal_ignoring_case(first[a_length - 1], second[b_length - 1]);
      };
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (is_same(i, j) ? 0 : 1)});
      if (i > 1 && j > 1 && is_same(i, j - 1) && is_same(i - 1, j))
        row[j] = std::min(row[j], second_last[j - 2] + 1);
    }
  }
  return row[second.size()];
}

}  // namespace

std::string_view find_similar_word(std::string_view word,
                                   std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t fewest = std::min(max_edits, word.size() / 2) + 1;
  if (word.size() > max_length) return best;
  for (const auto candidate : candidates) {
    const auto edits = count_edits(word, candidate);
    if (edits >= fewest) continue;
    fewest = edits;
    best = candidate;
  }
  return best;
}

}  // namespace hmn
