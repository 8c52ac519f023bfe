// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/ticks.hpp"

#include <doctest/doctest.h>

using hmn::cli::ticks;
using std::chrono::milliseconds;

TEST_CASE("the next tick is a whole number of intervals after the first, however late one asks") {
  const ticks::clock::time_point first(milliseconds(1000));
  const ticks every_100ms(first, milliseconds(100));
  const auto after = [&](int ms) {
    return (every_100ms.after(ticks::clock::time_point(milliseconds(ms))) - first) /
           milliseconds(1);
  };
  CHECK(after(0) == 0);
  CHECK(after(999) == 0);
  CHECK(after(1000) == 100);
  CHECK(after(1099) == 100);
  CHECK(after(1100) == 200);
  CHECK(after(1731) == 800);
}
