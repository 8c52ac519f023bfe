// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Samples that no recording shows: what is absent, and what makes no sense.
#include <doctest/doctest.h>

#include <string>

#include "backends/macmon/sample.hpp"

using namespace hmn;
using namespace hmn::macmon;

namespace {

sample read(std::string_view text) {
  const answer a = read_answer(text);
  REQUIRE(a.last);
  return *a.last;
}

}  // namespace

TEST_CASE("a zero that says nothing is no figure") {
  const sample s = read(
      R"({"gpu_power": 0.0, "gpu_freq_mhz": 0, "temp": {"gpu_temp_avg": 0.0}, "ram_power": 0})");
  for (const field f :
       {field::gpu_power, field::gpu_clock, field::gpu_temperature, field::memory_power}) {
    CHECK(s[f].why == status::unsupported);
    CHECK_FALSE(s[f].flaw.empty());
  }
}

TEST_CASE("a load of nothing is a figure") {
  const sample s = read(R"({"gpu_active_ratio": 0.0, "gpu_usage_ratio": 0})");
  REQUIRE(s[field::gpu_active].has_value());
  CHECK(s[field::gpu_active].number == 0);
  CHECK(s[field::gpu_effective].has_value());
}

TEST_CASE("what makes no sense is refused") {
  const sample s = read(R"({"gpu_active_ratio": 31.5, "gpu_power": -2, "gpu_freq_mhz": 1e9,
      "temp": {"gpu_temp_avg": -1.85}, "memory": {"ram_total": 17179869184.5},
      "all_power": "much", "sys_power": null, "gpu_usage_ratio": NaN})");
  for (const field f :
       {field::gpu_active, field::gpu_power, field::gpu_clock, field::gpu_temperature,
        field::memory_total, field::chip_power, field::gpu_effective}) {
    CHECK(s[f].why == status::backend);
    CHECK_FALSE(s[f].flaw.empty());
  }
  CHECK(s[field::board_power].why == status::unsupported);
  CHECK(s[field::gpu_power].said.view() == "-2");
}

TEST_CASE("what no chip can draw or run at is refused") {
  const sample s = read(R"({"gpu_power": 1000, "gpu_freq_mhz": 10000})");
  CHECK(s[field::gpu_power].why == status::backend);
  CHECK(s[field::gpu_clock].why == status::backend);
}

TEST_CASE("the last spelling serves where an earlier makes no sense") {
  const sample s = read(R"({"gpu_usage_ratio": null, "gpu_usage": [461, 0.25]})");
  CHECK(s[field::gpu_effective].number == 25);
  CHECK(s[field::gpu_clock].number == 461);
}

TEST_CASE("0.8.2 calls the weighted load scaled") {
  CHECK(read(R"({"gpu_scaled_ratio": 0.5, "gpu_usage": [1, 0.25]})")[field::gpu_effective].number ==
        50);
}

TEST_CASE("a pair that is too short") {
  const sample s = read(R"({"gpu_usage": [338]})");
  CHECK(s[field::gpu_clock].number == 338);
  CHECK(s[field::gpu_effective].why == status::empty);
}

TEST_CASE("bytes are exact") {
  CHECK(read(R"({"memory": {"ram_total": 18446744073709551615}})")[field::memory_total].whole ==
        18446744073709551615U);
}

TEST_CASE("fans keep their numbers") {
  const sample s = read(R"({"gpu_power": 1, "fans": [{"rpm": 0}, {"max_rpm": 5000}, 7,
      {"name": "fan3", "rpm": 2100}]})");
  CHECK(s.fans[0].has_value());
  CHECK(s.fans[0].number == 0);
  CHECK(s.fans[1].why == status::empty);
  CHECK(s.fans[2].why == status::empty);
  CHECK(s.fans[3].number == 2100);
}

TEST_CASE("the last whole sample counts") {
  const answer a =
      read_answer("Warning: slow\n{\"gpu_power\": 1}\n\n{\"gpu_power\": 2}\n{\"gpu_power\": 3");
  REQUIRE(a.last);
  CHECK((*a.last)[field::gpu_power].number == 2);
  CHECK(a.stray.view() == "Warning: slow");
}

TEST_CASE("text without a sample") {
  CHECK_FALSE(read_answer("").last);
  CHECK_FALSE(read_answer("[1, 2]").last);
  CHECK_FALSE(read_answer("{\"cpu_power\": 1}").last);
  CHECK(read_answer("Error: \"IOReport\"\n").stray.view() == "Error: \"IOReport\"");
}
