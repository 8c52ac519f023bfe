// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/output.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

Surroundings terminal() {
  Surroundings around;
  around.is_terminal = true;
  around.columns = 120;
  around.term = "xterm-256color";
  around.locale = "de_DE.UTF-8";
  return around;
}

Style automatic(const Surroundings& around) {
  return choose_style(around, ColourChoice::automatic);
}

}  // namespace

TEST_CASE("a terminal gets colour, bars and its own width") {
  const auto as = automatic(terminal());
  CHECK(as.terminal);
  CHECK(as.colour);
  CHECK(as.unicode);
  CHECK_FALSE(as.ascii_only);
  CHECK(as.width == 120);
}

TEST_CASE("a pipe gets plain text without limits") {
  auto around = terminal();
  around.is_terminal = false;
  const auto as = automatic(around);
  CHECK_FALSE(as.terminal);
  CHECK_FALSE(as.colour);
  CHECK_FALSE(as.unicode);
  CHECK_FALSE(as.ascii_only);
  CHECK(as.width == 0);
}

TEST_CASE("NO_COLOR, a dumb terminal and --color never take the colour, not the bars") {
  auto around = terminal();
  around.no_color = "1";
  CHECK_FALSE(automatic(around).colour);
  CHECK(automatic(around).terminal);
  around = terminal();
  around.term = "dumb";
  CHECK_FALSE(automatic(around).colour);
  CHECK_FALSE(automatic(around).unicode);
  around.term = "";
  CHECK_FALSE(automatic(around).colour);
  CHECK_FALSE(choose_style(terminal(), ColourChoice::never).colour);
  CHECK(choose_style(terminal(), ColourChoice::never).terminal);
}

TEST_CASE("--color always makes a pipe look like a terminal without an edge, NO_COLOR or not") {
  auto around = terminal();
  around.is_terminal = false;
  around.columns = 0;
  around.no_color = "1";
  const auto as = choose_style(around, ColourChoice::always);
  CHECK(as.colour);
  CHECK(as.terminal);
  CHECK(as.width == 0);
}

TEST_CASE("the locale's codeset decides on Unicode") {
  auto around = terminal();
  for (const char* name : {"C.UTF-8", "en_US.utf8", "ja_JP.UTF-8@x", "de_DE.Utf-8"}) {
    around.locale = name;
    CHECK(automatic(around).unicode);
    CHECK_FALSE(automatic(around).ascii_only);
  }
  for (const char* name :
       {"", "C", "POSIX", "de_DE", "de_DE.ISO-8859-1", "ja_JP.eucJP", "x@UTF-8"}) {
    around.locale = name;
    CHECK_FALSE(automatic(around).unicode);
    CHECK(automatic(around).ascii_only);
  }
}

TEST_CASE("paint adds codes only where it is on") {
  CHECK(paint("x", Tone::bad, true) == "\x1b[31mx\x1b[0m");
  CHECK(paint("x", Tone::bad, false) == "x");
  CHECK(paint("x", Tone::plain, true) == "x");
  CHECK(paint("", Tone::bad, true).empty());
}

TEST_CASE("usage has three tones") {
  CHECK(tone_of_usage(0.69) == Tone::good);
  CHECK(tone_of_usage(0.7) == Tone::warning);
  CHECK(tone_of_usage(0.9) == Tone::bad);
}
