// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/scan.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace hmn;

TEST_CASE("a number is all of the text, and fits") {
  CHECK(scan::number("0") == 0U);
  CHECK(scan::number("007") == 7U);
  CHECK(scan::number("18446744073709551615") == UINT64_MAX);
  for (const char* const none : {"", "-", "+1", "-1", " 1", "1 ", "1.0", "0x1", "1e3", "/", ":",
                                 "1a", "18446744073709551616", "99999999999999999999"}) {
    CAPTURE(none);
    CHECK_FALSE(scan::number(none));
    CHECK_FALSE(scan::decimal(none));
  }
  CHECK(scan::number<std::uint32_t>("4294967295") == UINT32_MAX);
  CHECK_FALSE(scan::number<std::uint32_t>("4294967296"));
  CHECK(scan::number<unsigned char>("255") == 255);
  CHECK_FALSE(scan::number<unsigned char>("256"));
}

TEST_CASE("of signs a minus, and only where the type has one") {
  CHECK(scan::number<std::int64_t>("9223372036854775807") == INT64_MAX);
  CHECK(scan::number<std::int64_t>("-9223372036854775808") == INT64_MIN);
  CHECK(scan::number<std::int64_t>("-40") == -40);
  CHECK(scan::number<std::int64_t>("-0") == 0);
  for (const char* const none : {"9223372036854775808", "-9223372036854775809", "-", "--1", "+1"}) {
    CAPTURE(none);
    CHECK_FALSE(scan::number<std::int64_t>(none));
  }
}

TEST_CASE("digits of another base, small and large letters") {
  CHECK(scan::number("ffffffffffffffff", 16) == UINT64_MAX);
  CHECK(scan::number("DeadBeef", 16) == 0xdeadbeefU);
  CHECK(scan::number("777", 8) == 511U);
  for (const char* const none :
       {"", "g", "G", "@", "`", "[", "{", "\xc1", "\xe1", "10000000000000000"}) {
    CAPTURE(none);
    CHECK_FALSE(scan::number(none, 16));
  }
  CHECK_FALSE(scan::number("8", 8));
}

TEST_CASE("no character but the digits is one") {
  for (int c = 0; c < 256; ++c) {
    const char text[] = {static_cast<char>(c), '\0'};
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    CAPTURE(c);
    CHECK(scan::number({text, 1}, 16).has_value() == (is_digit || is_letter));
    CHECK(scan::number({text, 1}).has_value() == is_digit);
  }
}
