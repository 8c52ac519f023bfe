// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/account.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace hmn;

TEST_CASE("both change, or neither, and what they are is told") {
  DoubleWord both({1, UINT64_MAX});
  CHECK(both.guess() == TwoWords{1, UINT64_MAX});
  for (const TwoWords wrong : {TwoWords{2, UINT64_MAX}, TwoWords{1, 0}, TwoWords{0, 0}}) {
    TwoWords expected = wrong;
    CHECK_FALSE(both.compare_exchange(expected, {7, 8}));
    CHECK(expected == TwoWords{1, UINT64_MAX});
    CHECK(both.guess() == expected);
  }
  TwoWords expected{1, UINT64_MAX};
  CHECK(both.compare_exchange(expected, {7, 8}));
  CHECK(both.guess() == TwoWords{7, 8});
}

TEST_CASE("no change of several threads is lost, and the two never part") {
  constexpr std::uint64_t turns = 20'000;
  constexpr std::uint64_t apart = 1000;
  DoubleWord both({0, apart});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      TwoWords seen = both.guess();
      for (std::uint64_t i = 0; i < turns;) {
        if (both.compare_exchange(seen, {seen.first + 1, seen.second + 1})) ++i;
        if (seen.second - seen.first != apart) return;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(both.guess() == TwoWords{3 * turns, 3 * turns + apart});
}
