// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/limits.hpp"

#include <doctest/doctest.h>

using hmn::Deadline;

TEST_CASE("a deadline ends in time, and later by what was spent on opening, within its limit") {
  Deadline d(1000, 100, 500);
  CHECK(d.until() == 1100);
  d.charge_opening(40);
  CHECK(d.until() == 1140);
  CHECK(d.open_until(2000) == 2460);
  d.charge_opening(700);
  CHECK(d.until() == 1600);
  CHECK(d.open_until(2000) == 2000);
  d.charge_opening(10);
  CHECK(d.until() == 1600);
}

TEST_CASE("a part of a deadline is left to those that are queried next, opening or not") {
  Deadline d(1000, 100, 500);
  d.leave_for_next(Deadline::Share::half);
  CHECK(d.until() == 1050);
  d.charge_opening(500);
  CHECK(d.until() == 1550);
  d.leave_for_next(Deadline::Share::quarter);
  CHECK(d.until() == 1575);
  d.leave_for_next(Deadline::Share::none);
  CHECK(d.until() == 1600);
}

TEST_CASE("an unlimited deadline has no end, whatever is added to it") {
  constexpr std::uint64_t none = hmn::platform::no_deadline;
  Deadline d(1000, none, none);
  d.leave_for_next(Deadline::Share::half);
  CHECK(d.until() == none);
  d.charge_opening(none - 1);
  CHECK(d.until() == none);
  CHECK(d.source_until() == none);
  CHECK(d.open_until(2000) == none);
}

TEST_CASE("an immediate deadline waits for nothing, and leaves the source its time") {
  Deadline d(1000, 0, 500);
  CHECK(d.until() == 1000);
  CHECK(d.open_until(1000) == 1000);
  CHECK(d.source_until() == 1000 + hmn::Limits().deadline_ns);
  d.charge_opening(300);
  CHECK(d.until() == 1000);
}
