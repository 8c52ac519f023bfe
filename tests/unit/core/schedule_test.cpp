// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/sampler.hpp"

#include <doctest/doctest.h>

using hmn::EveryNth;
using hmn::Schedule;

TEST_CASE("slot n is due n intervals after the start, however late the slots before were") {
  Schedule s(1000, 100);
  CHECK(s.due_ns() == 1000);
  CHECK(s.advance(1099) == 0);
  CHECK(s.due_ns() == 1100);
  CHECK(s.advance(1199) == 0);
  CHECK(s.due_ns() == 1200);
  CHECK(s.advance(1200) == 0);
  CHECK(s.due_ns() == 1300);
}

TEST_CASE("a slot that is due at the end of the one before is not left out") {
  Schedule s(1000, 100);
  CHECK(s.advance(1100) == 0);
  CHECK(s.slot() == 1);
  CHECK(s.advance(1150) == 0);
  CHECK(s.slot() == 2);
}

TEST_CASE("of several slots that have passed the newest is taken, the others are counted") {
  Schedule s(1000, 100);
  CHECK(s.advance(1250) == 1);
  CHECK(s.slot() == 2);
  CHECK(s.due_ns() == 1200);
  CHECK(s.advance(1999) == 6);
  CHECK(s.slot() == 9);
}

TEST_CASE("a clock that stands before the start leaves the schedule alone") {
  Schedule s(1000, 100);
  CHECK(s.advance(0) == 0);
  CHECK(s.slot() == 1);
}

TEST_CASE("in a year at a millisecond no slot drifts") {
  constexpr std::uint64_t millisecond = 1'000'000;
  constexpr std::uint64_t slots = std::uint64_t{365} * 24 * 3600 * 1000;
  Schedule s(7, millisecond);
  CHECK(s.advance(7 + slots * millisecond) == slots - 1);
  CHECK(s.due_ns() == 7 + slots * millisecond);
}

TEST_CASE("of every n slots the first that is reached belongs to the slower schedule") {
  EveryNth third(3);
  CHECK(third.takes(0));
  CHECK_FALSE(third.takes(1));
  CHECK_FALSE(third.takes(2));
  CHECK(third.takes(4));  // 3 was left out
  CHECK_FALSE(third.takes(5));
  CHECK(third.takes(6));
  EveryNth each(1);
  CHECK(each.takes(0));
  CHECK(each.takes(1));
}
