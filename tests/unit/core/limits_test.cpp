// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/limits.hpp"

#include <doctest/doctest.h>

using hmn::Deadline;

TEST_CASE("a deadline is extended by the time spent on opening, up to its limit") {
  Deadline deadline(1000, 100, 500);
  CHECK(deadline.end_ns() == 1100);
  deadline.charge_opening(40);
  CHECK(deadline.end_ns() == 1140);
  CHECK(deadline.opening_end_ns(2000) == 2460);
  deadline.charge_opening(700);
  CHECK(deadline.end_ns() == 1600);
  CHECK(deadline.opening_end_ns(2000) == 2000);
  deadline.charge_opening(10);
  CHECK(deadline.end_ns() == 1600);
}

TEST_CASE("a part of a deadline is left to the sources that are queried next") {
  Deadline deadline(1000, 100, 500);
  deadline.reserve_for_next(Deadline::Share::half);
  CHECK(deadline.end_ns() == 1050);
  deadline.charge_opening(500);
  CHECK(deadline.end_ns() == 1550);
  deadline.reserve_for_next(Deadline::Share::quarter);
  CHECK(deadline.end_ns() == 1575);
  deadline.reserve_for_next(Deadline::Share::none);
  CHECK(deadline.end_ns() == 1600);
}

TEST_CASE("an unlimited deadline has no end, whatever is added to it") {
  constexpr std::uint64_t unlimited = hmn::platform::no_deadline;
  Deadline deadline(1000, unlimited, unlimited);
  deadline.reserve_for_next(Deadline::Share::half);
  CHECK(deadline.end_ns() == unlimited);
  deadline.charge_opening(unlimited - 1);
  CHECK(deadline.end_ns() == unlimited);
  CHECK(deadline.source_end_ns() == unlimited);
  CHECK(deadline.opening_end_ns(2000) == unlimited);
}

TEST_CASE("an immediate deadline waits for nothing but leaves the source its time") {
  Deadline deadline(1000, 0, 500);
  CHECK(deadline.end_ns() == 1000);
  CHECK(deadline.opening_end_ns(1000) == 1000);
  CHECK(deadline.source_end_ns() == 1000 + hmn::Limits().deadline_ns);
  deadline.charge_opening(300);
  CHECK(deadline.end_ns() == 1000);
}
