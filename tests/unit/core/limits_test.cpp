// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/limits.hpp"

#include <doctest/doctest.h>

using hmn::budget;

TEST_CASE("a budget ends with its deadline, and later by what was spent on opening") {
  budget b(1000, 100, 500);
  CHECK(b.until() == 1100);
  b.charge_opening(40);
  CHECK(b.until() == 1140);
  CHECK(b.open_left() == 460);
  b.charge_opening(700);
  CHECK(b.until() == 1840);
  CHECK(b.open_left() == 0);
}

TEST_CASE("half of a deadline is left to those that are asked next, opening or not") {
  budget b(1000, 100, 500);
  b.leave_for_next(true);
  CHECK(b.until() == 1050);
  b.charge_opening(500);
  CHECK(b.until() == 1550);
  b.leave_for_next(false);
  CHECK(b.until() == 1600);
}
