// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/system.hpp"

#include <doctest/doctest.h>

#include <cerrno>

using namespace hmn::platform;

TEST_CASE("wide: UTF-8 is converted to UTF-16 and back") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x92\xBB";
  CHECK(to_wide(text) == L"a\u00E9\u20AC\U0001F4BB");
  CHECK(to_utf8(to_wide(text)) == text);
  CHECK(to_wide("").empty());
  CHECK(to_utf8(std::wstring()).empty());
}

TEST_CASE("wide: invalid text becomes U+FFFD") {
  CHECK(to_utf8(std::wstring(1, wchar_t{0xD800})) == "\xEF\xBF\xBD");
  CHECK(to_wide("a\xFF") == L"a\xFFFD");
}

TEST_CASE("wide: nothing is written if the text does not fit") {
  char buffer[2];
  CHECK(to_utf8(L"abc", buffer) == 0);
  CHECK(to_utf8(L"ab", buffer) == 2);
}

TEST_CASE("wide: a long path with a drive is converted to the form without a limit") {
  const std::string shorter = "C:/" + std::string(100, 'a');
  CHECK(WidePath(shorter).c_str() == to_wide(shorter));
  const std::string longer = "C:/" + std::string(300, 'a') + "/b";
  CHECK(WidePath(longer, L"\\*").c_str() == L"\\\\?\\C:\\" + std::wstring(300, L'a') + L"\\b\\*");
}

TEST_CASE("wide: an invalid path is refused") {
  CHECK(WidePath("relative").error() == ENOENT);
  CHECK(WidePath("C:\\\xFF").error() == EINVAL);
  CHECK(WidePath("C:\\" + std::string(5000, 'a')).error() == ENAMETOOLONG);
  CHECK(*WidePath("relative").c_str() == L'\0');
}
