// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/numbers.hpp"

#include <doctest/doctest.h>

using hmn::cli::gib_text;
using hmn::cli::ranges_text;

TEST_CASE("neighbouring numbers are ranges") {
  CHECK(ranges_text({}).empty());
  CHECK(ranges_text({3}) == "3");
  CHECK(ranges_text({3, 4}) == "3, 4");
  CHECK(ranges_text({0, 1, 2, 5, 7, 8, 9}) == "0-2, 5, 7-9");
}

TEST_CASE("an amount is never rounded to none") {
  constexpr std::uint64_t gib = 1ull << 30;
  CHECK(gib_text(0) == "0");
  CHECK(gib_text(1) == "<0.1");
  CHECK(gib_text(gib / 10) == "0.1");
  CHECK(gib_text(24 * gib) == "24.0");
  CHECK(gib_text(2015 * gib) == "2015");
}
