// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Samples that no recording shows: what is absent, and what makes no sense.
#include <doctest/doctest.h>

#include <string>

#include "backends/macmon/sample.hpp"

using namespace hmn;
using namespace hmn::macmon;

namespace {

Sample read(std::string_view text) {
  const Answer a = read_answer(text);
  REQUIRE(a.last);
  return *a.last;
}

}  // namespace

TEST_CASE("a zero that says nothing is no figure") {
  const Sample s = read(
      R"({"gpu_power": 0.0, "gpu_freq_mhz": 0, "temp": {"gpu_temp_avg": 0.0}, "ram_power": 0})");
  for (const Field f :
       {Field::gpu_power, Field::gpu_clock, Field::gpu_temperature, Field::memory_power}) {
    CHECK(s[f].why == Status::unsupported);
    CHECK_FALSE(s[f].flaw.empty());
  }
}

TEST_CASE("a load of nothing is a figure") {
  const Sample s = read(R"({"gpu_active_ratio": 0.0, "gpu_usage_ratio": 0})");
  REQUIRE(s[Field::gpu_active].has_value());
  CHECK(s[Field::gpu_active].number == 0);
  CHECK(s[Field::gpu_effective].has_value());
}

TEST_CASE("what makes no sense is refused") {
  const Sample s = read(R"({"gpu_active_ratio": 31.5, "gpu_power": -2, "gpu_freq_mhz": 1e9,
      "temp": {"gpu_temp_avg": -1.85}, "memory": {"ram_total": 17179869184.5},
      "all_power": "much", "sys_power": null, "gpu_usage_ratio": NaN})");
  for (const Field f :
       {Field::gpu_active, Field::gpu_power, Field::gpu_clock, Field::gpu_temperature,
        Field::memory_total, Field::chip_power, Field::gpu_effective}) {
    CHECK(s[f].why == Status::backend);
    CHECK_FALSE(s[f].flaw.empty());
  }
  CHECK(s[Field::board_power].why == Status::unsupported);
  CHECK(s[Field::gpu_power].said.view() == "-2");
}

TEST_CASE("what no chip can draw or run at is refused") {
  const Sample s = read(R"({"gpu_power": 1000, "gpu_freq_mhz": 10000})");
  CHECK(s[Field::gpu_power].why == Status::backend);
  CHECK(s[Field::gpu_clock].why == Status::backend);
}

TEST_CASE("the last spelling serves where an earlier makes no sense") {
  const Sample s = read(R"({"gpu_usage_ratio": null, "gpu_usage": [461, 0.25]})");
  CHECK(s[Field::gpu_effective].number == 25);
  CHECK(s[Field::gpu_clock].number == 461);
}

TEST_CASE("0.8.2 calls the weighted load scaled") {
  CHECK(read(R"({"gpu_scaled_ratio": 0.5, "gpu_usage": [1, 0.25]})")[Field::gpu_effective].number ==
        50);
}

TEST_CASE("a pair that is too short") {
  const Sample s = read(R"({"gpu_usage": [338]})");
  CHECK(s[Field::gpu_clock].number == 338);
  CHECK(s[Field::gpu_effective].why == Status::empty);
}

TEST_CASE("bytes are exact") {
  CHECK(read(R"({"memory": {"ram_total": 18446744073709551615}})")[Field::memory_total].whole ==
        18446744073709551615U);
}

TEST_CASE("fans keep their numbers") {
  const Sample s = read(R"({"gpu_power": 1, "fans": [{"rpm": 0}, {"max_rpm": 5000}, 7,
      {"name": "fan3", "rpm": 2100}]})");
  CHECK(s.fans[0].has_value());
  CHECK(s.fans[0].number == 0);
  CHECK(s.fans[1].why == Status::empty);
  CHECK(s.fans[2].why == Status::empty);
  CHECK(s.fans[3].number == 2100);
}

TEST_CASE("the last whole sample counts") {
  const Answer a =
      read_answer("Warning: slow\n{\"gpu_power\": 1}\n\n{\"gpu_power\": 2}\n{\"gpu_power\": 3");
  REQUIRE(a.last);
  CHECK((*a.last)[Field::gpu_power].number == 2);
  CHECK(a.stray.view() == "Warning: slow");
}

TEST_CASE("text without a sample") {
  CHECK_FALSE(read_answer("").last);
  CHECK_FALSE(read_answer("[1, 2]").last);
  CHECK_FALSE(read_answer("{\"cpu_power\": 1}").last);
  CHECK(read_answer("Error: \"IOReport\"\n").stray.view() == "Error: \"IOReport\"");
}
