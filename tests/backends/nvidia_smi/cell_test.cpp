// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace hmn;
using namespace hmn::nvidia_smi;

TEST_CASE("every spelling of no value, with brackets, without, in any case") {
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
  for (const auto& [word, means] : words) {
    CAPTURE(word);
    CHECK(status_of_cell(word) == means);
    CHECK(status_of_cell("[" + std::string(word) + "]") == means);
    CHECK(status_of_cell("  [" + std::string(word) + "] ") == means);
  }
  CHECK(status_of_cell("[gpu is LOST]") == Status::device_lost);
}

TEST_CASE("a bracketed word that nobody has seen yet is no value either") {
  CHECK(status_of_cell("[Something new]") == Status::backend);
  CHECK(status_of_cell("") == Status::empty);
  CHECK(status_of_cell("   ") == Status::empty);
  CHECK(status_of_cell("0") == Status::ok);
  CHECK(status_of_cell("Enabled") == Status::ok);
}

TEST_CASE("bytes: the unit is in the header, in the cell, or in both") {
  CHECK(bytes_of("8192", "MiB").value == 8192ULL << 20);
  CHECK(bytes_of("8192 MiB", "MiB").value == 8192ULL << 20);
  CHECK(bytes_of("8192 MiB", "").value == 8192ULL << 20);
  CHECK(bytes_of(" 7 KiB ", "").value == 7168);
  CHECK(bytes_of("0", "MiB").value == 0);
  CHECK(bytes_of("3", "GiB").value == 3ULL << 30);
}

TEST_CASE("bytes without a unit, or with two that differ, are none") {
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
    CHECK_FALSE(bytes_of(cell, unit).value);
    CHECK(bytes_of(cell, unit).why == Status::backend);
  }
}

TEST_CASE("bytes past 64 bits are none, not the highest number") {
  CHECK(bytes_of("17592186044415", "MiB").value == 17592186044415ULL << 20);
  CHECK_FALSE(bytes_of("17592186044416", "MiB").value);
  CHECK_FALSE(bytes_of("18446744073709551615", "MiB").value);
  CHECK_FALSE(bytes_of("18446744073709551616", "MiB").value);
}

TEST_CASE("no value keeps its reason") {
  CHECK(bytes_of("[N/A]", "MiB").why == Status::unsupported);
  CHECK(number_of("[GPU is lost]", "W", "W").why == Status::device_lost);
  CHECK(count_of("[Insufficient Permissions]", "MHz", "MHz").why == Status::permission);
  CHECK(number_of("12", "%", "W").why == Status::backend);
}

TEST_CASE("decimal numbers") {
  CHECK(number_of("58.98", "W", "W").value == doctest::Approx(58.98));
  CHECK(number_of("58.98 W", "W", "W").value == doctest::Approx(58.98));
  CHECK(number_of("0", "%", "%").value == 0);
  CHECK(number_of("40", "", "").value == 40);
  for (const char* text : {"inf", "nan", "-1", "1e5", "1.", ".5", "1.2.3", "0x1", "1,5", "."}) {
    CAPTURE(text);
    CHECK_FALSE(number_of(text, "", "").value);
  }
}

TEST_CASE("counts, hexadecimal numbers and P-states") {
  CHECK(count_of("2520 MHz", "MHz", "MHz").value == 2520u);
  CHECK_FALSE(count_of("4294967296", "MHz", "MHz").value);
  CHECK(hexadecimal_of("0x1E8110DE").value == 0x1E8110DE);
  CHECK(hexadecimal_of("0x0000000000000004").value == 4);
  CHECK_FALSE(hexadecimal_of("1E8110DE").value);
  CHECK_FALSE(hexadecimal_of("0x").value);
  CHECK_FALSE(hexadecimal_of("0x10000000000000000").value);
  CHECK(p_state_of("P8").value == 8u);
  CHECK(p_state_of("P0").value == 0u);
  CHECK_FALSE(p_state_of("P16").value);
  CHECK_FALSE(p_state_of("8").value);
}
