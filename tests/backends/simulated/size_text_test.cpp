// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/reader.hpp"

#include <doctest/doctest.h>

using hmn::simulated::parse_bytes;

TEST_CASE("a size is exact in every unit") {
  CHECK(parse_bytes("0B") == 0U);
  CHECK(parse_bytes("512 B") == 512U);
  CHECK(parse_bytes("1KiB") == 1024U);
  CHECK(parse_bytes("24564MiB") == 25'757'220'864U);
  CHECK(parse_bytes("16GiB") == 17'179'869'184U);
  CHECK(parse_bytes("2 TiB") == 2'199'023'255'552U);
  CHECK(parse_bytes("007MiB") == 7'340'032U);
}

TEST_CASE("decimals are accepted if the size is a whole number of bytes") {
  CHECK(parse_bytes("1.5GiB") == 1'610'612'736U);
  CHECK(parse_bytes("0.5 KiB") == 512U);
  CHECK(parse_bytes("2.000000MiB") == 2'097'152U);
  CHECK(parse_bytes("0.000001TiB") == std::nullopt);
  CHECK(parse_bytes("1.1GiB") == std::nullopt);
  CHECK(parse_bytes("0.5B") == std::nullopt);
  CHECK(parse_bytes("1.0000000GiB") == std::nullopt);
}

TEST_CASE("the largest size is 2^64 - 1") {
  CHECK(parse_bytes("18446744073709551615B") == UINT64_MAX);
  CHECK(parse_bytes("18446744073709551616B") == std::nullopt);
  CHECK(parse_bytes("16777215TiB") == 18'446'742'974'197'923'840U);
  CHECK(parse_bytes("16777215.5TiB") == 18'446'743'523'953'737'728U);
  CHECK(parse_bytes("16777216TiB") == std::nullopt);
  CHECK(parse_bytes("18014398509481983.9990234375KiB") == std::nullopt);
  CHECK(parse_bytes("18014398509481983.5KiB") == 18'446'744'073'709'551'104U);
}

TEST_CASE("a text that is not a size is rejected") {
  for (const char* text : {"",        "GiB",    "16",     "16 ",     "16GB",   "16gib",  "16G",
                           "16PiB",   " 16GiB", "16GiB ", "16  GiB", "-1GiB",  "+1GiB",  "1e3MiB",
                           "0x10MiB", "1.GiB",  ".5GiB",  "1,5GiB",  "1_000B", "16\tGiB"}) {
    CAPTURE(text);
    CHECK(parse_bytes(text) == std::nullopt);
  }
}
