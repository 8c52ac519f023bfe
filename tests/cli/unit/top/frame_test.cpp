// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/frame.hpp"

#include <doctest/doctest.h>

#include "cli/top/gpu_charts.hpp"

using hmn::cli::top::draw_curve;
using hmn::cli::top::elapsed_text;
using hmn::cli::top::Frame;
using hmn::cli::top::Glyphs;
using hmn::cli::top::History;
using hmn::cli::top::Ramp;
using hmn::cli::top::Span;

namespace {

constexpr Glyphs all_glyphs{true, false};
constexpr std::uint64_t one_second = 1'000'000'000;

// Returns the curve of a minute in 30 columns, 2 dots a second each.
Frame curve_of(const History& values, Glyphs with, bool is_hanging = false) {
  Frame on(30, 2, with);
  draw_curve(on, on.whole(), {&values, 100, Ramp::load, is_hanging},
             {Span::minute, 1059 * one_second, one_second / 2});
  return on;
}

}  // namespace

TEST_CASE("text is cut at the edges, and lines end without blanks") {
  Frame on(5, 2, all_glyphs);
  CHECK(on.put(1, 0, "abcdefgh") == 9);
  on.put(0, 1, "x ");
  on.put(-2, 1, "abc");
  CHECK(text_of(on, false) == " abcd\nc\n");
}

TEST_CASE("a wide character takes two columns, and is whole or not there") {
  Frame on(5, 1, all_glyphs);
  on.put(0, 0, "模型");
  CHECK(text_of(on, false) == "模型\n");
  on.put(1, 0, "x");
  CHECK(text_of(on, false) == " x型\n");
  on.put(4, 0, "模");
  CHECK(text_of(on, false) == " x型\n");
  CHECK(on.put(0, 0, "模型", hmn::cli::top::Ink::plain, 3) == 2);
}

TEST_CASE("marks combine with the character before") {
  Frame on(3, 1, all_glyphs);
  on.put(0, 0, "e\u0301x");
  CHECK(text_of(on, false) == "e\u0301x\n");
  on.put(0, 0, "\u0301\u0301\u0301\u0301");
  CHECK(text_of(on, false).size() < 12);
}

TEST_CASE("no control character reaches a frame") {
  Frame on(8, 1, all_glyphs);
  on.put(0, 0, "a\x1b\x07\tb\x7f");
  CHECK(text_of(on, false) == "a???b?\n");
}

TEST_CASE("colours are written where they change, and end with the line") {
  Frame on(4, 1, all_glyphs);
  on.put(0, 0, "ab", hmn::cli::top::Ink::bad);
  on.select(3, 0, 1);
  CHECK(text_of(on, true) == "\x1b[0;1;38;5;203mab\x1b[0m \x1b[0;7m \x1b[0m\n");
}

TEST_CASE("a curve fills from below, a gap is blank, and zero is not") {
  History values;
  values.add(1000 * one_second, 100);
  values.add(1020 * one_second, std::nullopt);
  for (std::uint64_t at = 1040; at < 1060; ++at) values.add(at * one_second, 0);
  values.add(1059 * one_second + 1, 50);
  const auto text = text_of(curve_of(values, all_glyphs), false);
  CHECK(text.find("⠀") == std::string::npos);
  CHECK(text.find("⣀⣀⣀⣀⣀⣀⣀⣀") != std::string::npos);
  CHECK(text.find("     ⣀") != std::string::npos);
  CHECK(text_of(curve_of(values, {false, true}), false).find("........") != std::string::npos);
}

TEST_CASE("a hanging curve fills from above") {
  History values;
  values.add(1059 * one_second, 25);
  const auto text = text_of(curve_of(values, all_glyphs, true), false);
  CHECK(text.substr(text.size() - 1) == "\n");
  CHECK(text.find('\n') > 1);  // the upper line has the value
  CHECK(text.substr(text.find('\n')) == "\n\n");
}

TEST_CASE("times are as short as they can be") {
  CHECK(elapsed_text(42 * one_second) == "42s");
  CHECK(elapsed_text(185 * one_second) == "3:05");
  CHECK(elapsed_text(7985 * one_second) == "2:13:05");
  CHECK(elapsed_text((5 * 86'400 + 3 * 3600 + 59) * one_second) == "5d03h");
}
