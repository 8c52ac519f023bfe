// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include <doctest/doctest.h>

using hmn::procfs::parse_statm;

TEST_CASE("statm: size and resident pages are read") {
  const auto statm = parse_statm("4053 522 174 174 0 286 0\n");
  REQUIRE(statm);
  CHECK(statm->size == 4053);
  CHECK(statm->resident == 522);
}

TEST_CASE("statm: zero is a number") {
  const auto statm = parse_statm("0 0 0 0 0 0 0\n");
  REQUIRE(statm);
  CHECK(statm->resident == 0);
}

TEST_CASE("statm: truncated, signed and too large numbers are refused") {
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
