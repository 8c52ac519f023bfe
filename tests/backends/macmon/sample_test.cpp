// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Samples that no recording shows: what is absent, and what makes no sense.
#include <doctest/doctest.h>

#include <string>

#include "backends/macmon/sample.hpp"

using namespace hmn;
using namespace hmn::macmon;

namespace {

Sample parse(std::string_view text) {
  const Answer answer = read_answer(text);
  REQUIRE(answer.last);
  return *answer.last;
}

}  // namespace

TEST_CASE("a zero from a sensor that measures nothing is absent") {
  const Sample sample = parse(
      R"({"gpu_power": 0.0, "gpu_freq_mhz": 0, "temp": {"gpu_temp_avg": 0.0}, "ram_power": 0})");
  for (const Field field :
       {Field::gpu_power, Field::gpu_clock, Field::gpu_temperature, Field::memory_power}) {
    CHECK(sample[field].status == Status::unsupported);
    CHECK_FALSE(sample[field].flaw.empty());
  }
}

TEST_CASE("a load of 0 is a value") {
  const Sample sample = parse(R"({"gpu_active_ratio": 0.0, "gpu_usage_ratio": 0})");
  REQUIRE(sample[Field::gpu_active].has_value());
  CHECK(sample[Field::gpu_active].number == 0);
  CHECK(sample[Field::gpu_effective].has_value());
}

TEST_CASE("impossible values are rejected") {
  const Sample sample = parse(R"({"gpu_active_ratio": 31.5, "gpu_power": -2, "gpu_freq_mhz": 1e9,
      "temp": {"gpu_temp_avg": -1.85}, "memory": {"ram_total": 17179869184.5},
      "all_power": "much", "sys_power": null, "gpu_usage_ratio": NaN})");
  for (const Field field :
       {Field::gpu_active, Field::gpu_power, Field::gpu_clock, Field::gpu_temperature,
        Field::memory_total, Field::chip_power, Field::gpu_effective}) {
    CHECK(sample[field].status == Status::backend);
    CHECK_FALSE(sample[field].flaw.empty());
  }
  CHECK(sample[Field::board_power].status == Status::unsupported);
  CHECK(sample[Field::gpu_power].text.view() == "-2");
}

TEST_CASE("power and clocks beyond any chip are rejected") {
  const Sample sample = parse(R"({"gpu_power": 1000, "gpu_freq_mhz": 10000})");
  CHECK(sample[Field::gpu_power].status == Status::backend);
  CHECK(sample[Field::gpu_clock].status == Status::backend);
}

TEST_CASE("an older key is used if a newer one has no usable value") {
  const Sample sample = parse(R"({"gpu_usage_ratio": null, "gpu_usage": [461, 0.25]})");
  CHECK(sample[Field::gpu_effective].number == 25);
  CHECK(sample[Field::gpu_clock].number == 461);
}

TEST_CASE("macmon 0.8.2 calls the weighted load scaled") {
  CHECK(
      parse(R"({"gpu_scaled_ratio": 0.5, "gpu_usage": [1, 0.25]})")[Field::gpu_effective].number ==
      50);
}

TEST_CASE("a pair that is too short yields its first value only") {
  const Sample sample = parse(R"({"gpu_usage": [338]})");
  CHECK(sample[Field::gpu_clock].number == 338);
  CHECK(sample[Field::gpu_effective].status == Status::empty);
}

TEST_CASE("bytes are read exactly") {
  CHECK(parse(R"({"memory": {"ram_total": 18446744073709551615}})")[Field::memory_total].whole ==
        18446744073709551615U);
}

TEST_CASE("fans keep their numbers") {
  const Sample sample = parse(R"({"gpu_power": 1, "fans": [{"rpm": 0}, {"max_rpm": 5000}, 7,
      {"name": "fan3", "rpm": 2100}]})");
  CHECK(sample.fans[0].has_value());
  CHECK(sample.fans[0].number == 0);
  CHECK(sample.fans[1].status == Status::empty);
  CHECK(sample.fans[2].status == Status::empty);
  CHECK(sample.fans[3].number == 2100);
}

TEST_CASE("the last complete sample is used") {
  const Answer answer =
      read_answer("Warning: slow\n{\"gpu_power\": 1}\n\n{\"gpu_power\": 2}\n{\"gpu_power\": 3");
  REQUIRE(answer.last);
  CHECK((*answer.last)[Field::gpu_power].number == 2);
  CHECK(answer.stray.view() == "Warning: slow");
}

TEST_CASE("text without a sample yields none") {
  CHECK_FALSE(read_answer("").last);
  CHECK_FALSE(read_answer("[1, 2]").last);
  CHECK_FALSE(read_answer("{\"cpu_power\": 1}").last);
  CHECK(read_answer("Error: \"IOReport\"\n").stray.view() == "Error: \"IOReport\"");
}
