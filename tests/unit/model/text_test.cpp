// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/text.hpp"

#include <doctest/doctest.h>

using hmn::append_utf8;
using hmn::Text;

static std::string make_valid(std::string_view bytes) {
  std::string out;
  append_utf8(out, bytes);
  return out;
}

constexpr const char* replacement = "\xEF\xBF\xBD";

TEST_CASE("well-formed UTF-8 passes through") {
  for (const char* text : {"", "plain", "gr\xC3\xBC\xC3\x9F", "\xE2\x82\xAC", "\xF0\x9F\x90\xAC",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CHECK(make_valid(text) == text);
  }
}

// The Unicode Standard, 3.9, "U+FFFD substitution of maximal subparts", table 3-8.
TEST_CASE("each maximal ill-formed part becomes one replacement character") {
  CHECK(make_valid("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") ==
        std::string() + replacement + replacement + replacement + replacement + replacement +
            replacement + replacement + replacement + "A");
  CHECK(make_valid("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41") ==
        std::string() + replacement + replacement + replacement + replacement + replacement +
            replacement + replacement + replacement + "A");
  CHECK(make_valid("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") ==
        std::string() + replacement + replacement + replacement + replacement + replacement + "A" +
            replacement + replacement + "B");
  CHECK(make_valid("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") ==
        std::string() + replacement + replacement + replacement + replacement + "A");
}

TEST_CASE("a NUL in the middle is replaced, as the rest would be lost") {
  CHECK(make_valid(std::string_view("a\0b", 3)) == std::string("a") + replacement + "b");
}

TEST_CASE("a bounded text is cut at a code point and remembers that it was cut") {
  Text<8> text;
  text.assign("1234567");
  CHECK(text.view() == "1234567");
  CHECK(!text.was_cut());
  text.assign("12345678");
  CHECK(text.view() == "1234567");
  CHECK(text.was_cut());
  text.assign("12345\xE2\x82\xAC");  // the euro sign needs three bytes, two are left
  CHECK(text.view() == "12345");
  CHECK(text.was_cut());
  CHECK(text.c_str()[5] == '\0');
  text.assign("");
  CHECK(text.empty());
  CHECK(!text.was_cut());
}

TEST_CASE("a copy is the longest prefix of whole characters that fits") {
  const std::string_view bytes(
      "a\xFF\xE2\x82\xAC"
      "bc\xC3\xBC\0\xF0\x9F\x90\xAC\xE2\x82",
      16);
  const std::string expected = make_valid(bytes);
  const auto character_length = [](char lead) {
    const auto byte = static_cast<unsigned char>(lead);
    return byte < 0x80 ? 1U : byte < 0xE0 ? 2U : byte < 0xF0 ? 3U : 4U;
  };
  for (std::size_t capacity = 0; capacity <= expected.size() + 2; ++capacity) {
    std::string out(capacity, '?');
    bool was_cut = false;
    const std::size_t used = hmn::copy_utf8(out.data(), capacity, bytes, was_cut);
    REQUIRE(used <= (capacity == 0 ? 0 : capacity - 1));
    CHECK(out.substr(0, used) == expected.substr(0, used));
    CHECK(was_cut == (used < expected.size()));
    if (capacity != 0) CHECK(out[used] == '\0');
    if (was_cut && capacity != 0) CHECK(used + character_length(expected[used]) > capacity - 1);
  }
}
