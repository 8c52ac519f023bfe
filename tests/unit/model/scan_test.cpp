// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/scan.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace hmn;

TEST_CASE("a number must be the whole text and in range") {
  CHECK(scan::parse_number("0") == 0U);
  CHECK(scan::parse_number("007") == 7U);
  CHECK(scan::parse_number("18446744073709551615") == UINT64_MAX);
  for (const char* const text : {"", "-", "+1", "-1", " 1", "1 ", "1.0", "0x1", "1e3", "/", ":",
                                 "1a", "18446744073709551616", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(scan::parse_number(text));
    CHECK_FALSE(scan::parse_decimal(text));
  }
  CHECK(scan::parse_number<std::uint32_t>("4294967295") == UINT32_MAX);
  CHECK_FALSE(scan::parse_number<std::uint32_t>("4294967296"));
  CHECK(scan::parse_number<unsigned char>("255") == 255);
  CHECK_FALSE(scan::parse_number<unsigned char>("256"));
}

TEST_CASE("only a signed type accepts a minus, and no type accepts a plus") {
  CHECK(scan::parse_number<std::int64_t>("9223372036854775807") == INT64_MAX);
  CHECK(scan::parse_number<std::int64_t>("-9223372036854775808") == INT64_MIN);
  CHECK(scan::parse_number<std::int64_t>("-40") == -40);
  CHECK(scan::parse_number<std::int64_t>("-0") == 0);
  for (const char* const text : {"9223372036854775808", "-9223372036854775809", "-", "--1", "+1"}) {
    CAPTURE(text);
    CHECK_FALSE(scan::parse_number<std::int64_t>(text));
  }
}

TEST_CASE("digits of another base are accepted in upper and lower case") {
  CHECK(scan::parse_number("ffffffffffffffff", 16) == UINT64_MAX);
  CHECK(scan::parse_number("DeadBeef", 16) == 0xdeadbeefU);
  CHECK(scan::parse_number("777", 8) == 511U);
  for (const char* const text :
       {"", "g", "G", "@", "`", "[", "{", "\xc1", "\xe1", "10000000000000000"}) {
    CAPTURE(text);
    CHECK_FALSE(scan::parse_number(text, 16));
  }
  CHECK_FALSE(scan::parse_number("8", 8));
}

TEST_CASE("no character other than a digit is accepted") {
  for (int c = 0; c < 256; ++c) {
    const char text[] = {static_cast<char>(c), '\0'};
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    CAPTURE(c);
    CHECK(scan::parse_number({text, 1}, 16).has_value() == (is_digit || is_letter));
    CHECK(scan::parse_number({text, 1}).has_value() == is_digit);
  }
}
