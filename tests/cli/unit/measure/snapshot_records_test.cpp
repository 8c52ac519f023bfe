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

TEST_CASE("only stale values are printed with their age") {
  CHECK(format_stale_suffix(note::stale | note::mixed, 3'249'000'000) == ", stale: 3.2 s old");
  CHECK(format_stale_suffix(note::mixed, 3'249'000'000).empty());
  CHECK(format_stale_age(60'000'000) == "stale: 0.1 s old");
}
