// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/frame.hpp"

#include <doctest/doctest.h>

#include "cli/top/gpu_charts.hpp"

using hmn::cli::top::ColourScale;
using hmn::cli::top::draw_curve;
using hmn::cli::top::format_elapsed;
using hmn::cli::top::Frame;
using hmn::cli::top::Glyphs;
using hmn::cli::top::History;
using hmn::cli::top::TimeSpan;

namespace {

constexpr Glyphs all_glyphs{true, false};
constexpr std::uint64_t one_second = 1'000'000'000;

// Returns the curve of a minute in 30 columns, 2 dots a second each.
Frame draw_minute(const History& values, Glyphs glyphs, bool is_hanging = false) {
  Frame frame(30, 2, glyphs);
  draw_curve(frame, frame.bounds(), {&values, 100, ColourScale::load, is_hanging},
             {TimeSpan::minute, 1059 * one_second, one_second / 2});
  return frame;
}

}  // namespace

TEST_CASE("text is cut at the frame's edges, and lines have no trailing blanks") {
  Frame frame(5, 2, all_glyphs);
  CHECK(frame.put(1, 0, "abcdefgh") == 9);
  frame.put(0, 1, "x ");
  frame.put(-2, 1, "abc");
  CHECK(format_frame(frame, false) == " abcd\nc\n");
}

TEST_CASE("a wide character takes two columns and is never drawn in half") {
  Frame frame(5, 1, all_glyphs);
  frame.put(0, 0, "模型");
  CHECK(format_frame(frame, false) == "模型\n");
  frame.put(1, 0, "x");
  CHECK(format_frame(frame, false) == " x型\n");
  frame.put(4, 0, "模");
  CHECK(format_frame(frame, false) == " x型\n");
  CHECK(frame.put(0, 0, "模型", hmn::cli::top::CellStyle::plain, 3) == 2);
}

TEST_CASE("combining marks join the preceding character") {
  Frame frame(3, 1, all_glyphs);
  frame.put(0, 0, "e\u0301x");
  CHECK(format_frame(frame, false) == "e\u0301x\n");
  frame.put(0, 0, "\u0301\u0301\u0301\u0301");
  CHECK(format_frame(frame, false).size() < 12);
}

TEST_CASE("no control character reaches a frame") {
  Frame frame(8, 1, all_glyphs);
  frame.put(0, 0, "a\x1b\x07\tb\x7f");
  CHECK(format_frame(frame, false) == "a???b?\n");
}

TEST_CASE("colour codes are written where colours change and reset at the end of a line") {
  Frame frame(4, 1, all_glyphs);
  frame.put(0, 0, "ab", hmn::cli::top::CellStyle::bad);
  frame.select(3, 0, 1);
  CHECK(format_frame(frame, true) == "\x1b[0;1;38;5;203mab\x1b[0m \x1b[0;7m \x1b[0m\n");
}

TEST_CASE("a curve fills from below, with blanks for gaps and a baseline for zero") {
  History values;
  values.add(1000 * one_second, 100);
  values.add(1020 * one_second, std::nullopt);
  for (std::uint64_t seconds = 1040; seconds < 1060; ++seconds) values.add(seconds * one_second, 0);
  values.add(1059 * one_second + 1, 50);
  const auto text = format_frame(draw_minute(values, all_glyphs), false);
  CHECK(text.find("⠀") == std::string::npos);
  CHECK(text.find("⣀⣀⣀⣀⣀⣀⣀⣀") != std::string::npos);
  CHECK(text.find("     ⣀") != std::string::npos);
  CHECK(format_frame(draw_minute(values, {false, true}), false).find("........") !=
        std::string::npos);
}

TEST_CASE("a hanging curve fills from above") {
  History values;
  values.add(1059 * one_second, 25);
  const auto text = format_frame(draw_minute(values, all_glyphs, true), false);
  CHECK(text.substr(text.size() - 1) == "\n");
  CHECK(text.find('\n') > 1);  // the upper line has the value
  CHECK(text.substr(text.find('\n')) == "\n\n");
}

TEST_CASE("elapsed times are written in their shortest form") {
  CHECK(format_elapsed(42 * one_second) == "42s");
  CHECK(format_elapsed(185 * one_second) == "3:05");
  CHECK(format_elapsed(7985 * one_second) == "2:13:05");
  CHECK(format_elapsed((5 * 86'400 + 3 * 3600 + 59) * one_second) == "5d03h");
}
