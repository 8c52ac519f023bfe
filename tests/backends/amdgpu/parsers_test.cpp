// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "backends/amdgpu/sysfs.hpp"
#include "model/telemetry.hpp"

using namespace hmn;
using namespace hmn::amdgpu;

namespace {

std::string make_table(std::size_t size, char format, char content) {
  std::string table(size, '\xff');
  table[0] = static_cast<char>(size & 0xff);
  table[1] = static_cast<char>(size >> 8);
  table[2] = format;
  table[3] = content;
  return table;
}

void write_number(std::string& table, std::size_t offset, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    table[offset + i] = static_cast<char>(value >> 8 * i & 0xff);
}

}  // namespace

TEST_CASE("clock levels yield the current and the highest frequency") {
  const ClockLevels levels = parse_clock_levels("0: 300Mhz \n1: 900Mhz *\n2: 1366Mhz \n");
  CHECK(levels.current_mhz == 900u);
  CHECK(levels.max_mhz == 1366u);
  const ClockLevels deep = parse_clock_levels("S: 19Mhz *\n0: 615Mhz\n1: 800Mhz");
  CHECK(deep.current_mhz == 19u);
  CHECK(deep.max_mhz == 800u);
  const ClockLevels none = parse_clock_levels("0: 300Mhz \n1: 900Mhz \n");
  CHECK_FALSE(none.current_mhz);
  CHECK(none.max_mhz == 900u);
  CHECK_FALSE(none.is_ambiguous);
  const ClockLevels two = parse_clock_levels("0: 300Mhz *\n1: 900Mhz *\n");
  CHECK_FALSE(two.current_mhz);
  CHECK(two.is_ambiguous);
  // The driver marks each level that has the current frequency.
  CHECK(parse_clock_levels("0: 800Mhz *\n1: 800Mhz *\n2: 900Mhz\n").current_mhz == 800u);
  CHECK_FALSE(parse_clock_levels("0: 0Mhz *\n1: 0Mhz *\n").current_mhz);
  CHECK_FALSE(parse_clock_levels("0: 0Mhz *\n1: 0Mhz *\n").max_mhz);
  CHECK(parse_clock_levels(std::string_view("0: 300Mhz *\n\0\0\0: 9Mhz", 22)).max_mhz == 300u);
}

TEST_CASE("lines without a frequency are not clock levels") {
  for (const char* text :
       {"", "\n", "0: 2.5GT/s, x8 310Mhz *\n", "300Mhz *\n", "0: -3Mhz *\n", "0: Mhz *\n",
        "0: 999999999999Mhz *\n", "OD_SCLK:\n", "0: 300 Mhz *\n", "0: 300Mhz ?\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_clock_levels(text).current_mhz);
    CHECK_FALSE(parse_clock_levels(text).max_mhz);
  }
}

TEST_CASE("counts of corrected and uncorrected errors are parsed") {
  const ErrorCounts counts = parse_error_counts("ue: 2\nce: 40\nde: 1\n");
  CHECK(counts.uncorrected == 2u);
  CHECK(counts.corrected == 40u);
  for (const char* text :
       {"", "Query currently inaccessible\n", "ue: \nce: -1\n", "ue 2\nce 40\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_error_counts(text).uncorrected);
    CHECK_FALSE(parse_error_counts(text).corrected);
  }
}

TEST_CASE("a gpu_metrics table with all fields unset has no values") {
  const auto metrics = parse_gpu_metrics(make_table(120, 1, 3));
  REQUIRE(metrics);
  CHECK_FALSE(metrics->throttle);
  CHECK_FALSE(metrics->regulator_celsius);
  CHECK_FALSE(metrics->media_percent);
  CHECK_FALSE(metrics->energy_joules);
}

TEST_CASE("the regulator temperature is the highest of the sensors that exist") {
  std::string table = make_table(120, 1, 3);
  write_number(table, 10, 61, 2);
  write_number(table, 12, 64, 2);
  write_number(table, 14, 0, 2);
  CHECK(parse_gpu_metrics(table)->regulator_celsius == 64u);
}

TEST_CASE("energy is read from formats that count it in 2^-16 joules") {
  std::string table = make_table(288, 1, 4);
  write_number(table, 24, 65536 * 10 + 32768, 8);
  CHECK(parse_gpu_metrics(table)->energy_joules == doctest::Approx(10.5));
  std::string older = make_table(120, 1, 3);
  write_number(older, 24, 59231, 8);
  CHECK_FALSE(parse_gpu_metrics(older)->energy_joules);
}

TEST_CASE("formats from 1.6 on have energy and a regulator, each at its own offset") {
  struct FormatOffset {
    char content;
    std::size_t size;
    std::size_t energy;
  };
  for (const FormatOffset& format :
       {FormatOffset{6, 1664, 16}, FormatOffset{7, 2208, 24}, FormatOffset{8, 3360, 24}}) {
    CAPTURE(int{format.content});
    std::string table = make_table(format.size, 1, format.content);
    write_number(table, 8, 55, 2);
    write_number(table, format.energy, 65536 * 3, 8);
    const auto metrics = parse_gpu_metrics(table);
    REQUIRE(metrics);
    CHECK(metrics->regulator_celsius == 55u);
    CHECK(metrics->energy_joules == doctest::Approx(3));
    CHECK_FALSE(metrics->throttle);
    CHECK_FALSE(metrics->media_percent);
  }
}

// The kernel documents percent in 3.0 and divides by 100 for older firmware.
TEST_CASE("media load is reported only by formats whose unit is certain") {
  struct MediaField {
    char format;
    char content;
    std::size_t size;
    std::size_t offset;
  };
  for (const MediaField& field :
       {MediaField{2, 1, 120, 30}, MediaField{2, 3, 152, 30}, MediaField{3, 0, 264, 44}}) {
    CAPTURE(int{field.format});
    std::string table = make_table(field.size, field.format, field.content);
    write_number(table, field.offset, 40, 2);
    CHECK(parse_gpu_metrics(table)->is_media_ambiguous);
    CHECK_FALSE(parse_gpu_metrics(table)->media_percent);
    write_number(table, field.offset, 0, 2);
    CHECK_FALSE(parse_gpu_metrics(table)->is_media_ambiguous);
    CHECK(parse_gpu_metrics(table)->media_percent == 0.0);
  }
  std::string hundredths = make_table(168, 2, 4);
  write_number(hundredths, 30, 4050, 2);
  CHECK(parse_gpu_metrics(hundredths)->media_percent == doctest::Approx(40.5));
}

TEST_CASE("throttle bits are read from the formats in which they are independent of the ASIC") {
  for (const char content : {'\2', '\3', '\4'}) {
    std::string table = make_table(128, 2, content);
    write_number(table, 120, 0, 8);
    CHECK(parse_gpu_metrics(table)->throttle == 0u);
  }
  CHECK(convert_throttle(0) == 0);
  CHECK(convert_throttle(1) == throttle::power);                          // PPT0
  CHECK(convert_throttle(std::uint64_t{1} << 16) == throttle::power);     // TDC_GFX
  CHECK(convert_throttle(std::uint64_t{1} << 35) == throttle::thermal);   // TEMP_EDGE
  CHECK(convert_throttle(std::uint64_t{1} << 45) == throttle::thermal);   // VRHOT1
  CHECK(convert_throttle(std::uint64_t{1} << 46) == throttle::hardware);  // PROCHOT_CPU
  CHECK(convert_throttle(std::uint64_t{1} << 57) == throttle::other);     // FIT
  CHECK(convert_throttle((std::uint64_t{1} << 36) | 2) == (throttle::thermal | throttle::power));
}

TEST_CASE("a table of an unknown format or a torn one is rejected") {
  CHECK_FALSE(parse_gpu_metrics(""));
  CHECK_FALSE(parse_gpu_metrics("abc"));
  CHECK_FALSE(parse_gpu_metrics(make_table(120, 9, 3)));
  CHECK_FALSE(parse_gpu_metrics(make_table(120, 1, 99)));
  CHECK_FALSE(parse_gpu_metrics(make_table(400, 1, 9)));  // a list of attributes
  CHECK_FALSE(parse_gpu_metrics(make_table(100, 1, 3)));  // smaller than the form is
  std::string torn = make_table(120, 1, 3);
  torn.resize(119);
  CHECK_FALSE(parse_gpu_metrics(torn));
  std::string padded = make_table(120, 1, 3);
  padded.resize(4096, '\0');
  CHECK(parse_gpu_metrics(padded));
}
