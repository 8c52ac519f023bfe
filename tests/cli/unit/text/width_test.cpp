// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/width.hpp"

#include <doctest/doctest.h>

#include <iterator>

#include "cli/text/width_table.hpp"

using hmn::cli::cut_middle;
using hmn::cli::cut_to_width;
using hmn::cli::display_width;
using hmn::cli::width_of;
using hmn::cli::wrap;

TEST_CASE("widths of characters") {
  CHECK(width_of('a') == 1);
  CHECK(width_of(U'é') == 1);
  CHECK(width_of(U'Ж') == 1);
  CHECK(width_of(U'模') == 2);
  CHECK(width_of(U'ｱ') == 1);
  CHECK(width_of(U'Ａ') == 2);
  CHECK(width_of(U'한') == 2);
  CHECK(width_of(U'😀') == 2);
  CHECK(width_of(U'⚡') == 2);
  CHECK(width_of(U'→') == 1);
  CHECK(width_of(U'█') == 1);
  CHECK(width_of(0x0301) == 0);
  CHECK(width_of(0x200D) == 0);
  CHECK(width_of(0xFE0F) == 0);
  CHECK(width_of(0xAD) == 1);
}

TEST_CASE("widths of text") {
  CHECK(display_width("") == 0);
  CHECK(display_width("python") == 6);
  CHECK(display_width("模型") == 4);
  CHECK(display_width("e\u0301") == 1);
}

TEST_CASE("cutting keeps whole characters and stays within the width") {
  CHECK(cut_to_width("python", 6, "…") == "python");
  CHECK(cut_to_width("python", 5, "…") == "pyth…");
  CHECK(cut_to_width("python", 5, "...") == "py...");
  CHECK(cut_to_width("模型模型", 6, "…") == "模型…");
  CHECK(cut_to_width("模型模型", 7, "…") == "模型模…");
  CHECK(cut_to_width("python", 2, "...") == "py");
  CHECK(cut_to_width("python", 0, "…").empty());
}

TEST_CASE("the tables are in order, without overlap") {
  const auto in_order = [](const auto& ranges) {
    char32_t last = 0;
    for (const auto& range : ranges) {
      CHECK(range.first > last);
      CHECK(range.last >= range.first);
      last = range.last;
    }
  };
  in_order(hmn::cli::zero_width);
  in_order(hmn::cli::double_width);
}

TEST_CASE("a cut in the middle keeps both ends") {
  CHECK(cut_middle("NVIDIA H100 80GB", 16, "…") == "NVIDIA H100 80GB");
  CHECK(cut_middle("H100 80GB HBM3", 9, "…") == "H100…HBM3");
  CHECK(cut_middle("H100 80GB HBM3", 9, "...") == "H10...BM3");
  CHECK(cut_middle("模型模型模型", 7, "…") == "模型…型");
  CHECK(cut_middle("abcdee\u0301", 5, "…") == "ab…ee\u0301");
  CHECK(cut_middle("abcdef", 2, "…") == "a…");
  CHECK(cut_middle("abcdef", 0, "…").empty());
}

TEST_CASE("lines are broken at spaces") {
  CHECK(wrap("one two three", 0, 2) == "one two three");
  CHECK(wrap("one two three", 8, 2) == "one two\n  three");
  CHECK(wrap("one two three", 6, 2) == "one\n  two\n  three");
  CHECK(wrap("unbreakable", 4, 2) == "unbreakable");
  CHECK(wrap("", 4, 2).empty());
}
