// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace hmn::cli;

TEST_CASE("consecutive numbers are written as ranges") {
  CHECK(format_ranges({}).empty());
  CHECK(format_ranges({3}) == "3");
  CHECK(format_ranges({3, 4}) == "3, 4");
  CHECK(format_ranges({0, 1, 2, 5, 7, 8, 9}) == "0-2, 5, 7-9");
}

TEST_CASE("an amount above zero is never rounded to zero") {
  constexpr std::uint64_t gib = 1ull << 30;
  CHECK(format_gib(0) == "0");
  CHECK(format_gib(1) == "<0.1");
  CHECK(format_gib(gib / 10) == "0.1");
  CHECK(format_gib(24 * gib) == "24.0");
  CHECK(format_gib(2015 * gib) == "2015");
}

namespace {

std::vector<std::string> list_labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const auto& tick : ticks) labels.push_back(tick.label);
  return labels;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("byte ticks are round numbers of their unit") {
  const double gib = 1024.0 * 1024 * 1024;
  CHECK(list_labels(make_byte_ticks(9 * gib, 4)) == Texts{"0", "5 GiB"});
  CHECK(list_labels(make_byte_ticks(8 * gib, 4)) == Texts{"0", "2 GiB", "4 GiB", "6 GiB", "8 GiB"});
  CHECK(list_labels(make_byte_ticks(2 * gib, 4)) ==
        Texts{"0", "0.5 GiB", "1 GiB", "1.5 GiB", "2 GiB"});
  CHECK(list_labels(make_byte_ticks(100, 4)).back() == "100 B");
  CHECK(make_byte_ticks(8 * gib, 4)[1].value == 2 * gib);
}

TEST_CASE("time ticks are round in seconds, minutes and hours") {
  CHECK(list_labels(make_time_ticks(0.8e9, 8)) ==
        Texts{"0", "0.1 s", "0.2 s", "0.3 s", "0.4 s", "0.5 s", "0.6 s", "0.7 s", "0.8 s"});
  CHECK(list_labels(make_time_ticks(16e9, 8)).back() == "16 s");
  CHECK(list_labels(make_time_ticks(3600e9, 8))[1] == "10:00");
  CHECK(list_labels(make_time_ticks(24 * 3600e9, 8))[1] == "3:00:00");
  CHECK_FALSE(make_time_ticks(0, 8).empty());
  CHECK(list_labels(make_time_ticks(1e6, 4)) == Texts{"0", "0.0005 s", "0.0010 s"});
  for (double longest_ns = 1e6; longest_ns < 2e9; longest_ns *= 1.3) {
    auto labels = list_labels(make_time_ticks(longest_ns, 8));
    CHECK(std::adjacent_find(labels.begin(), labels.end()) == labels.end());
  }
}

TEST_CASE("a time offset is written in its shortest form") {
  CHECK(format_offset(0) == "0 s");
  CHECK(format_offset(3'240'000'000) == "3.2 s");
  CHECK(format_offset(59'900'000'000) == "59 s");
  CHECK(format_offset(245'000'000'000) == "4:05");
  CHECK(format_offset(3'723'000'000'000) == "1:02:03");
}

TEST_CASE("byte counts have three significant digits") {
  CHECK(format_short_bytes(512) == "512 B");
  CHECK(format_short_bytes(1536) == "1.50 KiB");
  CHECK(format_short_bytes(20.5 * 1024 * 1024) == "20.5 MiB");
  CHECK(format_short_bytes(141.0 * 1024 * 1024 * 1024) == "141 GiB");
}
