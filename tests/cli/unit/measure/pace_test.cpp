// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/pace.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

TEST_CASE("a cheap measurement keeps its interval") {
  Pace pace(100ms);
  const auto start = Pace::Clock::now();
  CHECK(pace.is_due(start));
  pace.add_cost(start, 10us);
  CHECK_FALSE(pace.is_due(start + 99ms));
  CHECK(pace.is_due(start + 100ms));
}

TEST_CASE("an expensive measurement takes at most a hundredth of a core in the long run") {
  Pace pace(100ms);
  const auto start = Pace::Clock::now();
  auto now = start;
  std::chrono::nanoseconds spent{};
  for (; now < start + 10min; now = pace.next()) {
    pace.add_cost(now, 10ms);
    spent += 10ms;
  }
  CHECK(spent <= Pace::allowance + (now - start) / 100);
  CHECK(spent >= (now - start) / 101);
}

TEST_CASE("the first measurements of a short run are not slowed down") {
  Pace pace(100ms);
  const auto start = Pace::Clock::now();
  pace.add_cost(start, 30ms);
  CHECK(pace.next() == start + 100ms);
  pace.add_cost(start + 100ms, 10ms);
  CHECK(pace.next() == start + 200ms);
  pace.add_cost(start + 200ms, 10ms);
  CHECK(pace.next() == start + 1s);
}

TEST_CASE("ticks are whole intervals after the first, however late the caller asks") {
  const Ticks::Clock::time_point first(milliseconds(1000));
  const Ticks ticks(first, milliseconds(100));
  const auto next_offset = [&](int ms) {
    return (ticks.after(Ticks::Clock::time_point(milliseconds(ms))) - first) / milliseconds(1);
  };
  CHECK(next_offset(0) == 0);
  CHECK(next_offset(999) == 0);
  CHECK(next_offset(1000) == 100);
  CHECK(next_offset(1099) == 100);
  CHECK(next_offset(1100) == 200);
  CHECK(next_offset(1731) == 800);
}
