// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/pace.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

TEST_CASE("what is cheap keeps its interval") {
  Pace by(100ms);
  const auto begun = Pace::Clock::now();
  CHECK(by.is_due(begun));
  by.count(begun, 10us);
  CHECK_FALSE(by.is_due(begun + 99ms));
  CHECK(by.is_due(begun + 100ms));
}

TEST_CASE("what is dear takes a hundredth of a core in the long run") {
  Pace by(100ms);
  const auto begun = Pace::Clock::now();
  auto now = begun;
  std::chrono::nanoseconds spent{};
  for (; now < begun + 10min; now = by.next()) {
    by.count(now, 10ms);
    spent += 10ms;
  }
  CHECK(spent <= Pace::allowance + (now - begun) / 100);
  CHECK(spent >= (now - begun) / 101);
}

TEST_CASE("a short run is seen well: the first measurements cost nothing") {
  Pace by(100ms);
  const auto begun = Pace::Clock::now();
  by.count(begun, 30ms);
  CHECK(by.next() == begun + 100ms);
  by.count(begun + 100ms, 10ms);
  CHECK(by.next() == begun + 200ms);
  by.count(begun + 200ms, 10ms);
  CHECK(by.next() == begun + 1s);
}

TEST_CASE("the next tick is a whole number of intervals after the first, however late one asks") {
  const Ticks::Clock::time_point first(milliseconds(1000));
  const Ticks every_100ms(first, milliseconds(100));
  const auto after = [&](int ms) {
    return (every_100ms.after(Ticks::Clock::time_point(milliseconds(ms))) - first) /
           milliseconds(1);
  };
  CHECK(after(0) == 0);
  CHECK(after(999) == 0);
  CHECK(after(1000) == 100);
  CHECK(after(1099) == 100);
  CHECK(after(1100) == 200);
  CHECK(after(1731) == 800);
}
