// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/sampler.hpp"

#include <doctest/doctest.h>

using hmn::NthSlotFilter;
using hmn::Schedule;

TEST_CASE("slot n is due n intervals after the start, however late the slots before were") {
  Schedule schedule(1000, 100);
  CHECK(schedule.due_ns() == 1000);
  CHECK(schedule.advance(1099) == 0);
  CHECK(schedule.due_ns() == 1100);
  CHECK(schedule.advance(1199) == 0);
  CHECK(schedule.due_ns() == 1200);
  CHECK(schedule.advance(1200) == 0);
  CHECK(schedule.due_ns() == 1300);
}

TEST_CASE("a slot that is due when the previous one ends is not skipped") {
  Schedule schedule(1000, 100);
  CHECK(schedule.advance(1100) == 0);
  CHECK(schedule.slot() == 1);
  CHECK(schedule.advance(1150) == 0);
  CHECK(schedule.slot() == 2);
}

TEST_CASE("of several missed slots the newest is used, and the others are counted") {
  Schedule schedule(1000, 100);
  CHECK(schedule.advance(1250) == 1);
  CHECK(schedule.slot() == 2);
  CHECK(schedule.due_ns() == 1200);
  CHECK(schedule.advance(1999) == 6);
  CHECK(schedule.slot() == 9);
}

TEST_CASE("a clock before the start does not affect the schedule") {
  Schedule schedule(1000, 100);
  CHECK(schedule.advance(0) == 0);
  CHECK(schedule.slot() == 1);
}

TEST_CASE("no slot drifts in a year of milliseconds") {
  constexpr std::uint64_t millisecond = 1'000'000;
  constexpr std::uint64_t slots = std::uint64_t{365} * 24 * 3600 * 1000;
  Schedule schedule(7, millisecond);
  CHECK(schedule.advance(7 + slots * millisecond) == slots - 1);
  CHECK(schedule.due_ns() == 7 + slots * millisecond);
}

TEST_CASE("the first slot reached in every n belongs to the slower schedule") {
  NthSlotFilter third(3);
  CHECK(third.selects(0));
  CHECK_FALSE(third.selects(1));
  CHECK_FALSE(third.selects(2));
  CHECK(third.selects(4));  // 3 was left out
  CHECK_FALSE(third.selects(5));
  CHECK(third.selects(6));
  NthSlotFilter every(1);
  CHECK(every.selects(0));
  CHECK(every.selects(1));
}
