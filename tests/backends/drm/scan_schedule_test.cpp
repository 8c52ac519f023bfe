// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/scan_schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using hmn::drm::scan_schedule;

namespace {

constexpr std::uint64_t schedule_second = 1'000'000'000;
constexpr std::uint64_t every = 2 * schedule_second;

// Processes 1 to `count`, all looked at when the first walk is made.
struct crowd {
  explicit crowd(std::size_t count) : looked(count, schedule_second) {
    turns.begin(schedule_second, 0);
  }

  // How many had their turn in the walk at that time.
  std::size_t walk(std::uint64_t now) {
    std::size_t taken = 0;
    turns.begin(now, looked.size());
    for (std::size_t i = 0; i < looked.size(); ++i) {
      oldest = std::max(oldest, now - looked[i]);
      if (!turns.is_due(static_cast<std::uint32_t>(i + 1), looked[i])) continue;
      looked[i] = now;
      ++taken;
    }
    turns.end();
    return taken;
  }

  scan_schedule turns{every};
  std::vector<std::uint64_t> looked;
  std::uint64_t oldest = 0;  // how long one of them has waited at most
};

}  // namespace

TEST_CASE("many readings share the work evenly, and nobody waits longer than allowed") {
  crowd all(1000);
  std::size_t most = 0;
  for (std::uint64_t i = 1; i <= 200; ++i)
    most = std::max(most, all.walk(schedule_second + i * schedule_second / 10));
  CHECK(all.oldest <= every);
  CHECK(most <= 1000 / 20 + 10);
}

TEST_CASE("readings that come a little late leave nobody waiting for long") {
  crowd all(1000);
  std::uint64_t now = schedule_second;
  std::size_t most = 0;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    now += schedule_second / 10 + (i * 7919 % 5) * 1'000'000;
    most = std::max(most, all.walk(now));
  }
  CHECK(all.oldest <= every + schedule_second / 10);
  CHECK(most <= 1000 / 10);
}

TEST_CASE("two readings in the time take about half each") {
  crowd all(1000);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const std::size_t taken = all.walk(schedule_second + i * schedule_second);
    CHECK(taken >= 400);
    CHECK(taken <= 600);
  }
  CHECK(all.oldest <= every);
}

TEST_CASE("a reading after a long pause takes all, and the next ones share again") {
  crowd all(1000);
  CHECK(all.walk(60 * schedule_second) == 1000);
  for (std::uint64_t i = 1; i <= 40; ++i) {
    CHECK(all.walk(60 * schedule_second + i * schedule_second / 10) <= 70);
  }
}

TEST_CASE("without a time all are due at each reading") {
  scan_schedule turns(0);
  turns.begin(schedule_second, 0);
  turns.begin(2 * schedule_second, 10);
  CHECK(turns.is_due(1, schedule_second));
  CHECK(turns.is_slow(2 * schedule_second + 1));
}

TEST_CASE("few readings are told from many") {
  scan_schedule turns(every);
  CHECK(turns.is_slow(schedule_second));
  turns.begin(schedule_second, 0);
  CHECK_FALSE(turns.is_slow(schedule_second + schedule_second / 10));
  CHECK(turns.is_slow(2 * schedule_second));
}

TEST_CASE("without an end none is due after it was first seen") {
  scan_schedule turns(UINT64_MAX);
  turns.begin(schedule_second, 0);
  turns.begin(1'000'000 * schedule_second, 10);
  CHECK_FALSE(turns.is_due(1, schedule_second));
  CHECK_FALSE(turns.is_slow(2'000'000 * schedule_second));
}
