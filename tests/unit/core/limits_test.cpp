// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/limits.hpp"

#include <doctest/doctest.h>

using hmn::deadline;

TEST_CASE("a deadline ends in time, and later by what was spent on opening") {
  deadline d(1000, 100, 500);
  CHECK(d.until() == 1100);
  d.charge_opening(40);
  CHECK(d.until() == 1140);
  CHECK(d.open_left() == 460);
  d.charge_opening(700);
  CHECK(d.until() == 1840);
  CHECK(d.open_left() == 0);
}

TEST_CASE("half of a deadline is left to those that are queried next, opening or not") {
  deadline d(1000, 100, 500);
  d.leave_for_next(true);
  CHECK(d.until() == 1050);
  d.charge_opening(500);
  CHECK(d.until() == 1550);
  d.leave_for_next(false);
  CHECK(d.until() == 1600);
}
