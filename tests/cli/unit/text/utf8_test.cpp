// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/utf8.hpp"

#include <doctest/doctest.h>

using hmn::cli::append_utf8;
using hmn::cli::first_code_point;

TEST_CASE("every scalar value survives a round trip") {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value == 0xD800) value = 0xE000;
    std::string text;
    append_utf8(text, value);
    const auto read = first_code_point(text);
    if (read.value != value || read.length != text.size()) FAIL(static_cast<unsigned>(value));
  }
}

TEST_CASE("what is no UTF-8 is U+FFFD, one byte long") {
  for (const char* text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe6\xa8", "\xe6", "\xc3("}) {
    const auto read = first_code_point(text);
    CHECK(read.value == 0xFFFD);
    CHECK(read.length == 1);
  }
}

TEST_CASE("the end has no length") {
  CHECK(first_code_point("").length == 0);
}
