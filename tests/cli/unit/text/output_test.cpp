// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/output.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

Environment make_terminal_environment() {
  Environment environment;
  environment.is_terminal = true;
  environment.columns = 120;
  environment.term = "xterm-256color";
  environment.locale = "de_DE.UTF-8";
  return environment;
}

Style choose_automatic_style(const Environment& environment) {
  return choose_style(environment, ColourChoice::automatic);
}

}  // namespace

TEST_CASE("a terminal gets colour, Unicode and its own width") {
  const auto style = choose_automatic_style(make_terminal_environment());
  CHECK(style.terminal);
  CHECK(style.colour);
  CHECK(style.unicode);
  CHECK_FALSE(style.ascii_only);
  CHECK(style.width == 120);
}

TEST_CASE("a pipe gets plain text of unlimited width") {
  auto environment = make_terminal_environment();
  environment.is_terminal = false;
  const auto style = choose_automatic_style(environment);
  CHECK_FALSE(style.terminal);
  CHECK_FALSE(style.colour);
  CHECK_FALSE(style.unicode);
  CHECK_FALSE(style.ascii_only);
  CHECK(style.width == 0);
}

TEST_CASE("NO_COLOR, a dumb terminal and --color never disable colour, not the layout") {
  auto environment = make_terminal_environment();
  environment.no_color = "1";
  CHECK_FALSE(choose_automatic_style(environment).colour);
  CHECK(choose_automatic_style(environment).terminal);
  environment = make_terminal_environment();
  environment.term = "dumb";
  CHECK_FALSE(choose_automatic_style(environment).colour);
  CHECK_FALSE(choose_automatic_style(environment).unicode);
  environment.term = "";
  CHECK_FALSE(choose_automatic_style(environment).colour);
  CHECK_FALSE(choose_style(make_terminal_environment(), ColourChoice::never).colour);
  CHECK(choose_style(make_terminal_environment(), ColourChoice::never).terminal);
}

TEST_CASE("--color always styles a pipe as a terminal of unlimited width, even with NO_COLOR") {
  auto environment = make_terminal_environment();
  environment.is_terminal = false;
  environment.columns = 0;
  environment.no_color = "1";
  const auto style = choose_style(environment, ColourChoice::always);
  CHECK(style.colour);
  CHECK(style.terminal);
  CHECK(style.width == 0);
}

TEST_CASE("the locale's codeset decides whether Unicode is used") {
  auto environment = make_terminal_environment();
  for (const char* name : {"C.UTF-8", "en_US.utf8", "ja_JP.UTF-8@x", "de_DE.Utf-8"}) {
    environment.locale = name;
    CHECK(choose_automatic_style(environment).unicode);
    CHECK_FALSE(choose_automatic_style(environment).ascii_only);
  }
  for (const char* name :
       {"", "C", "POSIX", "de_DE", "de_DE.ISO-8859-1", "ja_JP.eucJP", "x@UTF-8"}) {
    environment.locale = name;
    CHECK_FALSE(choose_automatic_style(environment).unicode);
    CHECK(choose_automatic_style(environment).ascii_only);
  }
}

TEST_CASE("paint adds colour codes only if colour is on") {
  CHECK(paint("x", Tone::bad, true) == "\x1b[31mx\x1b[0m");
  CHECK(paint("x", Tone::bad, false) == "x");
  CHECK(paint("x", Tone::plain, true) == "x");
  CHECK(paint("", Tone::bad, true).empty());
}

TEST_CASE("usage is good below 70 %, a warning below 90 % and bad above") {
  CHECK(choose_usage_tone(0.69) == Tone::good);
  CHECK(choose_usage_tone(0.7) == Tone::warning);
  CHECK(choose_usage_tone(0.9) == Tone::bad);
}
