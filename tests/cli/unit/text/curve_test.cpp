// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/curve.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using hmn::cli::curve;

namespace {

constexpr std::uint64_t ms = 1'000'000;

double lowest(const curve& of) {
  double low = of.points().front().low;
  for (const auto& each : of.points()) low = std::min(low, each.low);
  return low;
}

double highest(const curve& of) {
  double high = 0;
  for (const auto& each : of.points()) high = std::max(high, each.high);
  return high;
}

}  // namespace

TEST_CASE("a curve keeps what it is given while there is room") {
  curve line(8);
  CHECK(line.is_empty());
  line.add(0, 5);
  line.add(100 * ms, 7);
  REQUIRE(line.points().size() == 2);
  CHECK(line.points()[1].at_ns == 100 * ms);
  CHECK(line.points()[1].low == 7);
  CHECK(line.highest() == 7);
  CHECK(line.highest_at_ns() == 100 * ms);
}

TEST_CASE("the highest is when it was seen first") {
  curve line;
  line.add(1 * ms, 3);
  line.add(2 * ms, 9);
  line.add(3 * ms, 9);
  CHECK(line.highest_at_ns() == 2 * ms);
}

TEST_CASE("a day at ten samples a second stays bounded and loses no extreme") {
  curve line(600);
  constexpr std::uint64_t samples = 24 * 3600 * 10;
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const double value = i == 123'457 ? 900 : i == 654'321 ? 1 : 100;
    line.add(i * 100 * ms, value);
    most = std::max(most, line.points().size());
  }
  CHECK(most <= 601);
  CHECK(line.points().size() > 200);
  CHECK(highest(line) == 900);
  CHECK(lowest(line) == 1);
  CHECK(line.highest_at_ns() == 123'457 * 100 * ms);
  CHECK(line.points().back().at_ns == (samples - 1) * 100 * ms);
  CHECK(std::is_sorted(line.points().begin(), line.points().end(),
                       [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; }));
}

TEST_CASE("a gap is kept until it is narrower than a point") {
  curve line(600);
  line.add(0, 1);
  line.add_gap();
  line.add(100 * ms, 2);
  line.add(200 * ms, 3);
  REQUIRE(line.points().size() == 3);
  CHECK_FALSE(line.points()[0].after_gap);
  CHECK(line.points()[1].after_gap);
  CHECK_FALSE(line.points()[2].after_gap);
}
