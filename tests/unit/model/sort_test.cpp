// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/sort.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

using namespace hmn;

namespace {

struct row {
  unsigned key = 0;
  std::unique_ptr<std::string> text;  // moved, never copied
};

// Small keys, so that many are equal; the generator of Park and Miller.
std::vector<row> some_rows(std::size_t count, unsigned keys) {
  std::vector<row> all(count);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 48271 % 2147483647;
    all[i] = {static_cast<unsigned>(state % keys),
              std::make_unique<std::string>(std::to_string(i))};
  }
  return all;
}

}  // namespace

TEST_CASE("by what is compared, and equal ones in the order in which they stood") {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 17U, 1000U}) {
    for (const unsigned keys : {1U, 3U, 1000U}) {
      std::vector<row> all = some_rows(count, keys);
      std::vector<std::pair<unsigned, std::string>> wanted;
      for (const row& r : all) wanted.emplace_back(r.key, *r.text);
      std::stable_sort(wanted.begin(), wanted.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      sort_stably(all, [](const row& a, const row& b) { return a.key < b.key; });
      REQUIRE(all.size() == wanted.size());
      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(all[i].key == wanted[i].first);
        REQUIRE(*all[i].text == wanted[i].second);
      }
    }
  }
}

TEST_CASE("one cycle through all of them") {
  std::vector<int> all;
  for (int i = 1; i <= 100'000; ++i) all.push_back(i);
  all.push_back(0);
  sort_stably(all, [](int a, int b) { return a < b; });
  CHECK(all.front() == 0);
  CHECK(std::is_sorted(all.begin(), all.end()));
}

TEST_CASE("positions alone") {
  const std::vector<std::string> words = {"pear", "fig", "apple", "fig"};
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) { return words[a] < words[b]; };
  CHECK(sorted_positions(words.size(), is_before) == std::vector<std::uint32_t>{2, 1, 3, 0});
  std::vector<std::uint32_t> some = {3, 0, 1};
  sort_positions(some, is_before);
  CHECK(some == std::vector<std::uint32_t>{1, 3, 0});
}

TEST_CASE("a part of them, and numbers") {
  std::vector<int> all{9, 8, 3, 1, 2};
  sort_stably(std::span(all).subspan(2), std::less<>());
  CHECK(all == std::vector<int>{9, 8, 1, 2, 3});
  std::vector<std::uint32_t> numbers{5, 0, 4294967295, 5, 1};
  sort_ascending(numbers);
  CHECK(numbers == std::vector<std::uint32_t>{0, 1, 5, 5, 4294967295});
}
