// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/snapshot_records.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;
using hypomnesis::note;

TEST_CASE("a record is fresh unless the library marks it as stale") {
  hypomnesis::pool pool;
  pool.age_ns = 90'000'000'000;
  CHECK(is_fresh(pool));
  pool.notes = note::estimated | note::lower_bound;
  CHECK(is_fresh(pool));
  pool.notes |= note::stale;
  CHECK_FALSE(is_fresh(pool));
}

TEST_CASE("the age of a stale value is printed, that of a fresh one is not") {
  CHECK(staleness(note::stale | note::mixed, 3'249'000'000) == ", stale: 3.2 s old");
  CHECK(staleness(note::mixed, 3'249'000'000).empty());
  CHECK(stale_text(60'000'000) == "stale: 0.1 s old");
}
