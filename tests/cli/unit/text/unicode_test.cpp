// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/unicode.hpp"

#include <doctest/doctest.h>

#include <iterator>

#include "cli/text/width_table.hpp"

using namespace hmn::cli;

TEST_CASE("every scalar value survives a round trip") {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value == 0xD800) value = 0xE000;
    std::string text;
    append_utf8(text, value);
    const auto code_point = first_code_point(text);
    if (code_point.value != value || code_point.length != text.size())
      FAIL(static_cast<unsigned>(value));
  }
}

TEST_CASE("invalid UTF-8 is read as U+FFFD, one byte at a time") {
  for (const char* text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe6\xa8", "\xe6", "\xc3("}) {
    const auto code_point = first_code_point(text);
    CHECK(code_point.value == 0xFFFD);
    CHECK(code_point.length == 1);
  }
}

TEST_CASE("the code point of an empty text has length 0") {
  CHECK(first_code_point("").length == 0);
}

TEST_CASE("characters are 0, 1 or 2 columns wide") {
  CHECK(code_point_width('a') == 1);
  CHECK(code_point_width(U'é') == 1);
  CHECK(code_point_width(U'Ж') == 1);
  CHECK(code_point_width(U'模') == 2);
  CHECK(code_point_width(U'ｱ') == 1);
  CHECK(code_point_width(U'Ａ') == 2);
  CHECK(code_point_width(U'한') == 2);
  CHECK(code_point_width(U'😀') == 2);
  CHECK(code_point_width(U'⚡') == 2);
  CHECK(code_point_width(U'→') == 1);
  CHECK(code_point_width(U'█') == 1);
  CHECK(code_point_width(0x0301) == 0);
  CHECK(code_point_width(0x200D) == 0);
  CHECK(code_point_width(0xFE0F) == 0);
  CHECK(code_point_width(0xAD) == 1);
}

TEST_CASE("the width of a text is the sum of its characters") {
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

TEST_CASE("the width tables are sorted and do not overlap") {
  const auto check_order = [](const auto& ranges) {
    char32_t last = 0;
    for (const auto& range : ranges) {
      CHECK(range.first > last);
      CHECK(range.last >= range.first);
      last = range.last;
    }
  };
  check_order(hmn::cli::zero_width);
  check_order(hmn::cli::double_width);
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

TEST_CASE("lines are wrapped at spaces") {
  CHECK(wrap("one two three", 0, 2) == "one two three");
  CHECK(wrap("one two three", 8, 2) == "one two\n  three");
  CHECK(wrap("one two three", 6, 2) == "one\n  two\n  three");
  CHECK(wrap("unbreakable", 4, 2) == "unbreakable");
  CHECK(wrap("", 4, 2).empty());
}

TEST_CASE("plain text, including non-ASCII, is not escaped") {
  CHECK(escape_for_text("python3.11") == "python3.11");
  CHECK(escape_for_text("模型 é") == "模型 é");
}

TEST_CASE("control characters are escaped in text") {
  CHECK(escape_for_text("a\nb") == "a\\nb");
  CHECK(escape_for_text("a\r\tb") == "a\\r\\tb");
  CHECK(escape_for_text("\x1b[31mred") == "\\x1b[31mred");
  CHECK(escape_for_text("\x7f") == "\\x7f");
  CHECK(escape_for_text("\u0085") == "\\x85");
  CHECK(escape_for_text("\u009b31m") == "\\x9b31m");
  CHECK(escape_for_text(std::string_view("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("characters that reorder or break a line are escaped in text") {
  CHECK(escape_for_text("a\u202eb") == "a\\u{202e}b");
  CHECK(escape_for_text("\u2066x\u2069") == "\\u{2066}x\\u{2069}");
  CHECK(escape_for_text("\u200f\u061c") == "\\u{200f}\\u{61c}");
  CHECK(escape_for_text("a\u2028b") == "a\\u{2028}b");
}

TEST_CASE("a backslash is escaped, so that it cannot imitate an escape") {
  CHECK(escape_for_text("a\\nb") == "a\\\\nb");
}

TEST_CASE("non-ASCII text is escaped for a terminal without UTF-8") {
  CHECK(escape_for_text("é模😀", true) == "\\xe9\\u{6a21}\\u{1f600}");
}

TEST_CASE("invalid UTF-8 becomes U+FFFD") {
  CHECK(escape_for_text("a\xff"
                        "b") == "a\uFFFDb");
  CHECK(escape_for_text("\xe6\xa8") == "\uFFFD\uFFFD");
}
