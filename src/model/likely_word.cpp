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

// Computes Levenshtein's distance, without regard to case.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t swap = diagonal + (equal_ignoring_case(a[i - 1], b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, swap});
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
