// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/colour.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

TEST_CASE("paint adds codes only where it is on") {
  CHECK(paint("x", tone::bad, true) == "\x1b[31mx\x1b[0m");
  CHECK(paint("x", tone::bad, false) == "x");
  CHECK(paint("x", tone::plain, true) == "x");
  CHECK(paint("", tone::bad, true).empty());
}

TEST_CASE("usage has three tones") {
  CHECK(tone_of_usage(0.69) == tone::good);
  CHECK(tone_of_usage(0.7) == tone::warning);
  CHECK(tone_of_usage(0.9) == tone::bad);
}
