// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/reader.hpp"

#include <doctest/doctest.h>

using hmn::cli::top::CounterRate;

TEST_CASE("a rate is computed from two counts and their times") {
  constexpr std::uint64_t ms = 1'000'000;
  CounterRate rate;
  CHECK_FALSE(rate.add(1000, 1000 * ms));
  CHECK(rate.add(1500, 1500 * ms) == 1000);
  CHECK(rate.add(1500, 1500 * ms) == 1000);  // the same reading again
  CHECK(rate.add(1500, 2500 * ms) == 0);
}

TEST_CASE("a counter that restarted or was not read has no rate") {
  CounterRate rate;
  rate.add(1000, 1);
  CHECK_FALSE(rate.add(10, 2));
  CHECK(rate.add(11, 1'000'000'002) == 1);
  CHECK_FALSE(rate.add(std::nullopt, 2'000'000'002));
  CHECK_FALSE(rate.add(20, 3'000'000'002));
}
