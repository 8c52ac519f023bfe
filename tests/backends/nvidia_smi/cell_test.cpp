// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace hmn;
using namespace hmn::nvidia_smi;

TEST_CASE("every spelling of a missing value is recognized, bracketed or not, in any case") {
  const std::pair<const char*, Status> words[] = {
      {"N/A", Status::unsupported},
      {"Not Supported", Status::unsupported},
      {"Not Found", Status::unsupported},
      {"Requested functionality has been deprecated", Status::unsupported},
      {"Function Not Found", Status::unsupported},
      {"No data", Status::empty},
      {"Insufficient Permissions", Status::permission},
      {"No Permission", Status::permission},
      {"GPU is lost", Status::device_lost},
      {"GPU requires reset", Status::backend},
      {"Unknown Error", Status::backend},
      {"ERR!", Status::backend},
      {"Timeout", Status::timeout},
  };
  for (const auto& [word, expected] : words) {
    CAPTURE(word);
    CHECK(parse_status(word) == expected);
    CHECK(parse_status("[" + std::string(word) + "]") == expected);
    CHECK(parse_status("  [" + std::string(word) + "] ") == expected);
  }
  CHECK(parse_status("[gpu is LOST]") == Status::device_lost);
}

TEST_CASE("an unknown bracketed word is a missing value") {
  CHECK(parse_status("[Something new]") == Status::backend);
  CHECK(parse_status("") == Status::empty);
  CHECK(parse_status("   ") == Status::empty);
  CHECK(parse_status("0") == Status::ok);
  CHECK(parse_status("Enabled") == Status::ok);
}

TEST_CASE("the unit of bytes is in the header, in the cell, or in both") {
  CHECK(parse_bytes("8192", "MiB").value == 8192ULL << 20);
  CHECK(parse_bytes("8192 MiB", "MiB").value == 8192ULL << 20);
  CHECK(parse_bytes("8192 MiB", "").value == 8192ULL << 20);
  CHECK(parse_bytes(" 7 KiB ", "").value == 7168);
  CHECK(parse_bytes("0", "MiB").value == 0);
  CHECK(parse_bytes("3", "GiB").value == 3ULL << 30);
}

TEST_CASE("bytes without a unit, or with two different ones, are rejected") {
  for (const auto& [cell, unit] : {std::pair("8192", ""),
                                   {"8192 MB", ""},
                                   {"8192 KiB", "MiB"},
                                   {"8192", "%"},
                                   {"1.5", "MiB"},
                                   {"-1", "MiB"},
                                   {"+1", "MiB"},
                                   {"0x10", "MiB"},
                                   {"12 MiB x", "MiB"},
                                   {"1e3", "MiB"}}) {
    CAPTURE(cell);
    CHECK_FALSE(parse_bytes(cell, unit).value);
    CHECK(parse_bytes(cell, unit).status == Status::backend);
  }
}

TEST_CASE("bytes beyond 64 bits are rejected, not clamped") {
  CHECK(parse_bytes("17592186044415", "MiB").value == 17592186044415ULL << 20);
  CHECK_FALSE(parse_bytes("17592186044416", "MiB").value);
  CHECK_FALSE(parse_bytes("18446744073709551615", "MiB").value);
  CHECK_FALSE(parse_bytes("18446744073709551616", "MiB").value);
}

TEST_CASE("a missing value keeps its reason") {
  CHECK(parse_bytes("[N/A]", "MiB").status == Status::unsupported);
  CHECK(parse_number("[GPU is lost]", "W", "W").status == Status::device_lost);
  CHECK(parse_count("[Insufficient Permissions]", "MHz", "MHz").status == Status::permission);
  CHECK(parse_number("12", "%", "W").status == Status::backend);
}

TEST_CASE("decimal numbers are parsed, and other spellings rejected") {
  CHECK(parse_number("58.98", "W", "W").value == doctest::Approx(58.98));
  CHECK(parse_number("58.98 W", "W", "W").value == doctest::Approx(58.98));
  CHECK(parse_number("0", "%", "%").value == 0);
  CHECK(parse_number("40", "", "").value == 40);
  for (const char* text : {"inf", "nan", "-1", "1e5", "1.", ".5", "1.2.3", "0x1", "1,5", "."}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number(text, "", "").value);
  }
}

TEST_CASE("counts, hexadecimal numbers and P-states are parsed") {
  CHECK(parse_count("2520 MHz", "MHz", "MHz").value == 2520u);
  CHECK_FALSE(parse_count("4294967296", "MHz", "MHz").value);
  CHECK(parse_hexadecimal("0x1E8110DE").value == 0x1E8110DE);
  CHECK(parse_hexadecimal("0x0000000000000004").value == 4);
  CHECK_FALSE(parse_hexadecimal("1E8110DE").value);
  CHECK_FALSE(parse_hexadecimal("0x").value);
  CHECK_FALSE(parse_hexadecimal("0x10000000000000000").value);
  CHECK(parse_p_state("P8").value == 8u);
  CHECK(parse_p_state("P0").value == 0u);
  CHECK_FALSE(parse_p_state("P16").value);
  CHECK_FALSE(parse_p_state("8").value);
}
