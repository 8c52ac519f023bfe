// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/utf16.hpp"

#include <doctest/doctest.h>

using hmn::platform::to_utf8;

TEST_CASE("UTF-16 becomes UTF-8") {
  CHECK(to_utf8(u"NVIDIA GeForce RTX 4070") == "NVIDIA GeForce RTX 4070");
  CHECK(to_utf8(u"") == "");
  CHECK(to_utf8(u"\u00e9\u4e2d\U0001F600") == "\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80");
}

TEST_CASE("UTF-16 that does not fit is not written") {
  char buffer[4];
  CHECK(hmn::platform::encode_utf8(std::u16string_view(u"\u4e2da"), std::span<char>(buffer)) == 4);
  CHECK(hmn::platform::encode_utf8(std::u16string_view(u"\u4e2d\u00e9"), std::span<char>(buffer)) ==
        0);
}

TEST_CASE("half of a surrogate pair becomes U+FFFD") {
  const char16_t high[] = {u'a', 0xD800, u'b'};
  CHECK(to_utf8({high, 3}) ==
        "a\xEF\xBF\xBD"
        "b");
  const char16_t low[] = {0xDC00};
  CHECK(to_utf8({low, 1}) == "\xEF\xBF\xBD");
  const char16_t last[] = {0xDBFF};
  CHECK(to_utf8({last, 1}) == "\xEF\xBF\xBD");
}
