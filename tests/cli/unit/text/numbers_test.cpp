// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace hmn::cli;

TEST_CASE("neighbouring numbers are ranges") {
  CHECK(ranges_text({}).empty());
  CHECK(ranges_text({3}) == "3");
  CHECK(ranges_text({3, 4}) == "3, 4");
  CHECK(ranges_text({0, 1, 2, 5, 7, 8, 9}) == "0-2, 5, 7-9");
}

TEST_CASE("an amount is never rounded to none") {
  constexpr std::uint64_t gib = 1ull << 30;
  CHECK(gib_text(0) == "0");
  CHECK(gib_text(1) == "<0.1");
  CHECK(gib_text(gib / 10) == "0.1");
  CHECK(gib_text(24 * gib) == "24.0");
  CHECK(gib_text(2015 * gib) == "2015");
}

namespace {

std::vector<std::string> labels(const std::vector<Tick>& of) {
  std::vector<std::string> all;
  for (const auto& each : of) all.push_back(each.label);
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("ticks of bytes are round in their unit") {
  const double gib = 1024.0 * 1024 * 1024;
  CHECK(labels(byte_ticks(9 * gib, 4)) == Texts{"0", "5 GiB"});
  CHECK(labels(byte_ticks(8 * gib, 4)) == Texts{"0", "2 GiB", "4 GiB", "6 GiB", "8 GiB"});
  CHECK(labels(byte_ticks(2 * gib, 4)) == Texts{"0", "0.5 GiB", "1 GiB", "1.5 GiB", "2 GiB"});
  CHECK(labels(byte_ticks(100, 4)).back() == "100 B");
  CHECK(byte_ticks(8 * gib, 4)[1].at == 2 * gib);
}

TEST_CASE("ticks of time are as people count it") {
  CHECK(labels(time_ticks(0.8e9, 8)) ==
        Texts{"0", "0.1 s", "0.2 s", "0.3 s", "0.4 s", "0.5 s", "0.6 s", "0.7 s", "0.8 s"});
  CHECK(labels(time_ticks(16e9, 8)).back() == "16 s");
  CHECK(labels(time_ticks(3600e9, 8))[1] == "10:00");
  CHECK(labels(time_ticks(24 * 3600e9, 8))[1] == "3:00:00");
  CHECK_FALSE(time_ticks(0, 8).empty());
  CHECK(labels(time_ticks(1e6, 4)) == Texts{"0", "0.0005 s", "0.0010 s"});
  for (double longest_ns = 1e6; longest_ns < 2e9; longest_ns *= 1.3) {
    auto all = labels(time_ticks(longest_ns, 8));
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  }
}

TEST_CASE("a time since the start, as short as it can be") {
  CHECK(offset_text(0) == "0 s");
  CHECK(offset_text(3'240'000'000) == "3.2 s");
  CHECK(offset_text(59'900'000'000) == "59 s");
  CHECK(offset_text(245'000'000'000) == "4:05");
  CHECK(offset_text(3'723'000'000'000) == "1:02:03");
}

TEST_CASE("bytes with three digits") {
  CHECK(short_bytes(512) == "512 B");
  CHECK(short_bytes(1536) == "1.50 KiB");
  CHECK(short_bytes(20.5 * 1024 * 1024) == "20.5 MiB");
  CHECK(short_bytes(141.0 * 1024 * 1024 * 1024) == "141 GiB");
}
