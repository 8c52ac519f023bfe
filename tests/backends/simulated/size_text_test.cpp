// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/reader.hpp"

#include <doctest/doctest.h>

using hmn::simulated::bytes_of;

TEST_CASE("a size is exact in every unit") {
  CHECK(bytes_of("0B") == 0U);
  CHECK(bytes_of("512 B") == 512U);
  CHECK(bytes_of("1KiB") == 1024U);
  CHECK(bytes_of("24564MiB") == 25'757'220'864U);
  CHECK(bytes_of("16GiB") == 17'179'869'184U);
  CHECK(bytes_of("2 TiB") == 2'199'023'255'552U);
  CHECK(bytes_of("007MiB") == 7'340'032U);
}

TEST_CASE("decimals are taken when they leave whole bytes") {
  CHECK(bytes_of("1.5GiB") == 1'610'612'736U);
  CHECK(bytes_of("0.5 KiB") == 512U);
  CHECK(bytes_of("2.000000MiB") == 2'097'152U);
  CHECK(bytes_of("0.000001TiB") == std::nullopt);
  CHECK(bytes_of("1.1GiB") == std::nullopt);
  CHECK(bytes_of("0.5B") == std::nullopt);
  CHECK(bytes_of("1.0000000GiB") == std::nullopt);
}

TEST_CASE("the largest size is 2^64 - 1") {
  CHECK(bytes_of("18446744073709551615B") == UINT64_MAX);
  CHECK(bytes_of("18446744073709551616B") == std::nullopt);
  CHECK(bytes_of("16777215TiB") == 18'446'742'974'197'923'840U);
  CHECK(bytes_of("16777215.5TiB") == 18'446'743'523'953'737'728U);
  CHECK(bytes_of("16777216TiB") == std::nullopt);
  CHECK(bytes_of("18014398509481983.9990234375KiB") == std::nullopt);
  CHECK(bytes_of("18014398509481983.5KiB") == 18'446'744'073'709'551'104U);
}

TEST_CASE("what is no size is refused") {
  for (const char* text : {"",        "GiB",    "16",     "16 ",     "16GB",   "16gib",  "16G",
                           "16PiB",   " 16GiB", "16GiB ", "16  GiB", "-1GiB",  "+1GiB",  "1e3MiB",
                           "0x10MiB", "1.GiB",  ".5GiB",  "1,5GiB",  "1_000B", "16\tGiB"}) {
    CAPTURE(text);
    CHECK(bytes_of(text) == std::nullopt);
  }
}
