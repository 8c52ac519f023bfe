// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/bar.hpp"

#include <doctest/doctest.h>

#include <cmath>

using hmn::cli::draw_bar;

TEST_CASE("ASCII bars") {
  CHECK(draw_bar(0, 10, false) == "[----------]");
  CHECK(draw_bar(0.5, 10, false) == "[#####-----]");
  CHECK(draw_bar(1, 10, false) == "[##########]");
}

TEST_CASE("only nothing is empty and only everything is full") {
  CHECK(draw_bar(0.0001, 10, false) == "[#---------]");
  CHECK(draw_bar(0.9999, 10, false) == "[#########-]");
}

TEST_CASE("block bars move by eighths") {
  CHECK(draw_bar(0, 2, true) == "[  ]");
  CHECK(draw_bar(0.0001, 2, true) == "[▏ ]");
  CHECK(draw_bar(0.25, 2, true) == "[▌ ]");
  CHECK(draw_bar(0.5, 2, true) == "[█ ]");
  CHECK(draw_bar(0.9999, 2, true) == "[█▉]");
  CHECK(draw_bar(1, 2, true) == "[██]");
}

TEST_CASE("what is no fraction stays inside the bar") {
  CHECK(draw_bar(-1, 4, false) == "[----]");
  CHECK(draw_bar(7, 4, false) == "[####]");
  CHECK(draw_bar(std::nan(""), 4, false) == "[----]");
}
