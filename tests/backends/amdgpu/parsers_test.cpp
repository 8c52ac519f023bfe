// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "backends/amdgpu/sysfs.hpp"
#include "model/telemetry.hpp"

using namespace hmn;
using namespace hmn::amdgpu;

namespace {

std::string table(std::size_t size, char format, char content) {
  std::string t(size, '\xff');
  t[0] = static_cast<char>(size & 0xff);
  t[1] = static_cast<char>(size >> 8);
  t[2] = format;
  t[3] = content;
  return t;
}

void put(std::string& t, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) t[at + i] = static_cast<char>(value >> 8 * i & 0xff);
}

}  // namespace

TEST_CASE("levels of a clock") {
  const ClockLevels all = parse_clock_levels("0: 300Mhz \n1: 900Mhz *\n2: 1366Mhz \n");
  CHECK(all.current_mhz == 900u);
  CHECK(all.highest_mhz == 1366u);
  const ClockLevels deep = parse_clock_levels("S: 19Mhz *\n0: 615Mhz\n1: 800Mhz");
  CHECK(deep.current_mhz == 19u);
  CHECK(deep.highest_mhz == 800u);
  const ClockLevels none = parse_clock_levels("0: 300Mhz \n1: 900Mhz \n");
  CHECK_FALSE(none.current_mhz);
  CHECK(none.highest_mhz == 900u);
  CHECK_FALSE(none.is_ambiguous);
  const ClockLevels two = parse_clock_levels("0: 300Mhz *\n1: 900Mhz *\n");
  CHECK_FALSE(two.current_mhz);
  CHECK(two.is_ambiguous);
  // The driver marks each level that has the current frequency.
  CHECK(parse_clock_levels("0: 800Mhz *\n1: 800Mhz *\n2: 900Mhz\n").current_mhz == 800u);
  CHECK_FALSE(parse_clock_levels("0: 0Mhz *\n1: 0Mhz *\n").current_mhz);
  CHECK_FALSE(parse_clock_levels("0: 0Mhz *\n1: 0Mhz *\n").highest_mhz);
  CHECK(parse_clock_levels(std::string_view("0: 300Mhz *\n\0\0\0: 9Mhz", 22)).highest_mhz == 300u);
}

TEST_CASE("lines that are no levels") {
  for (const char* text :
       {"", "\n", "0: 2.5GT/s, x8 310Mhz *\n", "300Mhz *\n", "0: -3Mhz *\n", "0: Mhz *\n",
        "0: 999999999999Mhz *\n", "OD_SCLK:\n", "0: 300 Mhz *\n", "0: 300Mhz ?\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_clock_levels(text).current_mhz);
    CHECK_FALSE(parse_clock_levels(text).highest_mhz);
  }
}

TEST_CASE("counts of errors") {
  const ErrorCounts both = parse_error_counts("ue: 2\nce: 40\nde: 1\n");
  CHECK(both.uncorrected == 2u);
  CHECK(both.corrected == 40u);
  for (const char* text :
       {"", "Query currently inaccessible\n", "ue: \nce: -1\n", "ue 2\nce 40\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_error_counts(text).uncorrected);
    CHECK_FALSE(parse_error_counts(text).corrected);
  }
}

TEST_CASE("a table of which all fields are unfilled tells nothing") {
  const auto t = parse_gpu_metrics(table(120, 1, 3));
  REQUIRE(t);
  CHECK_FALSE(t->throttle);
  CHECK_FALSE(t->regulator_celsius);
  CHECK_FALSE(t->media_percent);
  CHECK_FALSE(t->energy_joules);
}

TEST_CASE("the hottest regulator, of those that have a sensor") {
  std::string t = table(120, 1, 3);
  put(t, 10, 61, 2);
  put(t, 12, 64, 2);
  put(t, 14, 0, 2);
  CHECK(parse_gpu_metrics(t)->regulator_celsius == 64u);
}

TEST_CASE("energy of the formats that count it in 2^-16 joules") {
  std::string t = table(288, 1, 4);
  put(t, 24, 65536 * 10 + 32768, 8);
  CHECK(parse_gpu_metrics(t)->energy_joules == doctest::Approx(10.5));
  std::string older = table(120, 1, 3);
  put(older, 24, 59231, 8);
  CHECK_FALSE(parse_gpu_metrics(older)->energy_joules);
}

TEST_CASE("formats from 1.6 have energy and a regulator, each at its own place") {
  struct Place {
    char content;
    std::size_t size;
    std::size_t energy;
  };
  for (const Place& p : {Place{6, 1664, 16}, Place{7, 2208, 24}, Place{8, 3360, 24}}) {
    CAPTURE(int{p.content});
    std::string t = table(p.size, 1, p.content);
    put(t, 8, 55, 2);
    put(t, p.energy, 65536 * 3, 8);
    const auto read = parse_gpu_metrics(t);
    REQUIRE(read);
    CHECK(read->regulator_celsius == 55u);
    CHECK(read->energy_joules == doctest::Approx(3));
    CHECK_FALSE(read->throttle);
    CHECK_FALSE(read->media_percent);
  }
}

// The kernel calls it percent in 3.0, and divides it by 100 for older firmware.
TEST_CASE("load of the video engines whose unit depends on the firmware") {
  struct One {
    char format;
    char content;
    std::size_t size;
    std::size_t at;
  };
  for (const One& o : {One{2, 1, 120, 30}, One{2, 3, 152, 30}, One{3, 0, 264, 44}}) {
    CAPTURE(int{o.format});
    std::string t = table(o.size, o.format, o.content);
    put(t, o.at, 40, 2);
    CHECK(parse_gpu_metrics(t)->is_media_ambiguous);
    CHECK_FALSE(parse_gpu_metrics(t)->media_percent);
    put(t, o.at, 0, 2);
    CHECK_FALSE(parse_gpu_metrics(t)->is_media_ambiguous);
    CHECK(parse_gpu_metrics(t)->media_percent == 0.0);
  }
  std::string hundredths = table(168, 2, 4);
  put(hundredths, 30, 4050, 2);
  CHECK(parse_gpu_metrics(hundredths)->media_percent == doctest::Approx(40.5));
}

TEST_CASE("throttling of the formats that tell it alike for every card") {
  for (const char content : {'\2', '\3', '\4'}) {
    std::string t = table(128, 2, content);
    put(t, 120, 0, 8);
    CHECK(parse_gpu_metrics(t)->throttle == 0u);
  }
  CHECK(throttle_of(0) == 0);
  CHECK(throttle_of(1) == throttle::power);                          // PPT0
  CHECK(throttle_of(std::uint64_t{1} << 16) == throttle::power);     // TDC_GFX
  CHECK(throttle_of(std::uint64_t{1} << 35) == throttle::thermal);   // TEMP_EDGE
  CHECK(throttle_of(std::uint64_t{1} << 45) == throttle::thermal);   // VRHOT1
  CHECK(throttle_of(std::uint64_t{1} << 46) == throttle::hardware);  // PROCHOT_CPU
  CHECK(throttle_of(std::uint64_t{1} << 57) == throttle::other);     // FIT
  CHECK(throttle_of((std::uint64_t{1} << 36) | 2) == (throttle::thermal | throttle::power));
}

TEST_CASE("a table of another form, or a torn one, is none") {
  CHECK_FALSE(parse_gpu_metrics(""));
  CHECK_FALSE(parse_gpu_metrics("abc"));
  CHECK_FALSE(parse_gpu_metrics(table(120, 9, 3)));
  CHECK_FALSE(parse_gpu_metrics(table(120, 1, 99)));
  CHECK_FALSE(parse_gpu_metrics(table(400, 1, 9)));  // a list of attributes
  CHECK_FALSE(parse_gpu_metrics(table(100, 1, 3)));  // smaller than the form is
  std::string torn = table(120, 1, 3);
  torn.resize(119);
  CHECK_FALSE(parse_gpu_metrics(torn));
  std::string padded = table(120, 1, 3);
  padded.resize(4096, '\0');
  CHECK(parse_gpu_metrics(padded));
}
