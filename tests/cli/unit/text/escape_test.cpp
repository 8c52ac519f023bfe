// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/escape.hpp"

#include <doctest/doctest.h>

using hmn::cli::escape_for_text;

TEST_CASE("plain text, also past ASCII, stays as it is") {
  CHECK(escape_for_text("python3.11") == "python3.11");
  CHECK(escape_for_text("模型 é") == "模型 é");
}

TEST_CASE("control characters become visible in text") {
  CHECK(escape_for_text("a\nb") == "a\\nb");
  CHECK(escape_for_text("a\r\tb") == "a\\r\\tb");
  CHECK(escape_for_text("\x1b[31mred") == "\\x1b[31mred");
  CHECK(escape_for_text("\x7f") == "\\x7f");
  CHECK(escape_for_text("\u0085") == "\\x85");
  CHECK(escape_for_text("\u009b31m") == "\\x9b31m");
  CHECK(escape_for_text(std::string_view("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("what reorders or breaks a line becomes visible in text") {
  CHECK(escape_for_text("a\u202eb") == "a\\u{202e}b");
  CHECK(escape_for_text("\u2066x\u2069") == "\\u{2066}x\\u{2069}");
  CHECK(escape_for_text("\u200f\u061c") == "\\u{200f}\\u{61c}");
  CHECK(escape_for_text("a\u2028b") == "a\\u{2028}b");
}

TEST_CASE("a backslash cannot pretend to be an escape") {
  CHECK(escape_for_text("a\\nb") == "a\\\\nb");
}

TEST_CASE("a terminal without UTF-8 gets ASCII alone") {
  CHECK(escape_for_text("é模😀", true) == "\\xe9\\u{6a21}\\u{1f600}");
}

TEST_CASE("bytes that are no UTF-8 become U+FFFD") {
  CHECK(escape_for_text("a\xff"
                        "b") == "a\uFFFDb");
  CHECK(escape_for_text("\xe6\xa8") == "\uFFFD\uFFFD");
}
