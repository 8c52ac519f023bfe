// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/message_text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>

using namespace hmn;

TEST_CASE("texts and numbers are joined in order") {
  const std::string name = "statm";
  CHECK(compose({}) == "");
  CHECK(compose({"/proc/", 42U, "/", name}) == "/proc/42/statm");
  CHECK(compose({std::string_view("a\0b", 3), ""}) == std::string("a\0b", 3));
}

TEST_CASE("numbers of every type are written up to their extremes") {
  CHECK(compose({0, " ", -1, " ", std::int8_t{-128}, " ", std::uint8_t{255}}) == "0 -1 -128 255");
  CHECK(compose({std::numeric_limits<std::int64_t>::min()}) == "-9223372036854775808");
  CHECK(compose({std::numeric_limits<std::uint64_t>::max()}) == "18446744073709551615");
}

TEST_CASE("hexadecimal numbers are padded to a width") {
  CHECK(compose({hex(0), " ", hex(0xAB), " ", hex(1, 4), " ", hex(0x12345, 4)}) ==
        "0 ab 0001 12345");
  CHECK(compose({hex(UINT64_MAX, 16), hex(1, 40)}) == "ffffffffffffffff0000000000000001");
}

TEST_CASE("a composed text is cut where its buffer ends") {
  std::array<char, 8> out;
  CHECK(compose_into(out, {"GPU ", 12345678}) == "GPU 1234");
  CHECK(compose_into(out, {"GPU ", 7, ""}) == "GPU 7");
  CHECK(compose_into(std::span<char>(), {"x"}) == "");
}
