// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include <doctest/doctest.h>

using hmn::procfs::parse_statm;

TEST_CASE("statm gives size and resident pages") {
  const auto m = parse_statm("4053 522 174 174 0 286 0\n");
  REQUIRE(m);
  CHECK(m->size == 4053);
  CHECK(m->resident == 522);
}

TEST_CASE("zero is a number in statm") {
  const auto m = parse_statm("0 0 0 0 0 0 0\n");
  REQUIRE(m);
  CHECK(m->resident == 0);
}

TEST_CASE("statm that is cut short, signed or past 64 bits is refused") {
  CHECK_FALSE(parse_statm(""));
  CHECK_FALSE(parse_statm("4053"));
  CHECK_FALSE(parse_statm("4053 52"));
  CHECK_FALSE(parse_statm("4053 522\n1 2 3\n"));
  CHECK_FALSE(parse_statm("4053 -522 1\n"));
  CHECK_FALSE(parse_statm("+4053 522 1\n"));
  CHECK_FALSE(parse_statm("4053 18446744073709551616 1\n"));
  CHECK_FALSE(parse_statm("4053 522 \n"));
  CHECK_FALSE(parse_statm("0x10 522 1\n"));
}
