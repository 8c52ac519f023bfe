// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/account.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace hmn;

TEST_CASE("a compare-exchange changes both words or neither, and returns the current ones") {
  DoubleWord words({1, UINT64_MAX});
  CHECK(words.guess() == WordPair{1, UINT64_MAX});
  for (const WordPair guess : {WordPair{2, UINT64_MAX}, WordPair{1, 0}, WordPair{0, 0}}) {
    WordPair expected = guess;
    CHECK_FALSE(words.compare_exchange(expected, {7, 8}));
    CHECK(expected == WordPair{1, UINT64_MAX});
    CHECK(words.guess() == expected);
  }
  WordPair expected{1, UINT64_MAX};
  CHECK(words.compare_exchange(expected, {7, 8}));
  CHECK(words.guess() == WordPair{7, 8});
}

TEST_CASE("no concurrent change is lost, and the two words stay consistent") {
  constexpr std::uint64_t rounds = 20'000;
  constexpr std::uint64_t distance = 1000;
  DoubleWord words({0, distance});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      WordPair expected = words.guess();
      for (std::uint64_t i = 0; i < rounds;) {
        if (words.compare_exchange(expected, {expected.first + 1, expected.second + 1})) ++i;
        if (expected.second - expected.first != distance) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(words.guess() == WordPair{3 * rounds, 3 * rounds + distance});
}
