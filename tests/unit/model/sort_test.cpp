// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/sort.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("positions are sorted by their elements, and the sort is stable") {
  const std::vector<std::string> words = {"pear", "fig", "apple", "fig"};
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) { return words[a] < words[b]; };
  CHECK(hmn::sort_positions(words.size(), is_before) == std::vector<std::uint32_t>{2, 1, 3, 0});
  CHECK(hmn::sort_positions(0, is_before).empty());
}
