// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/opening_clock.hpp"

#include <doctest/doctest.h>

using hmn::opening_clock;

TEST_CASE("a caller takes each moment of an opening once") {
  opening_clock c;
  CHECK(c.take(1000) == 0);
  c.begin(1000);
  CHECK(c.take(1000) == 0);
  CHECK(c.take(1250) == 250);
  CHECK(c.take(1260) == 10);
  CHECK(c.end(1300) == 300);
  CHECK(c.take(9000) == 40);
  CHECK(c.take(9000) == 0);
}

TEST_CASE("openings of one request add up") {
  opening_clock c;
  c.begin(1000);
  CHECK(c.end(1300) == 300);
  c.begin(5000);
  CHECK(c.take(5001) == 301);
  CHECK(c.end(5100) == 100);
  CHECK(c.take(6000) == 99);
  c.reset();
  CHECK(c.take(7000) == 0);
  c.begin(7000);
  CHECK(c.end(7050) == 50);
  CHECK(c.take(7050) == 50);
}

TEST_CASE("a caller's time may be before the opening, or after its end") {
  opening_clock c;
  c.begin(1000);
  CHECK(c.take(999) == 0);
  CHECK(c.take(1101) == 101);
  CHECK(c.end(1100) == 100);
  CHECK(c.take(1102) == 0);
}
