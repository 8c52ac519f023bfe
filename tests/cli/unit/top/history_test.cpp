// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/history.hpp"

#include <doctest/doctest.h>

using hmn::cli::top::Histories;
using hmn::cli::top::History;
using hmn::cli::top::MachineReading;
using hmn::cli::top::next_span;
using hmn::cli::top::ProcessReading;
using hmn::cli::top::ProcessReadings;
using hmn::cli::top::TimeSpan;

namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t hold = 5 * second / 2;

MachineReading make_reading(std::uint64_t at_ns, std::uint32_t first_pid, std::uint32_t count) {
  auto rows = std::make_shared<ProcessReadings>();
  for (std::uint32_t i = 0; i < count; ++i) {
    ProcessReading row;
    row.usage.pid = first_pid + i;
    row.usage.used_bytes = 1000;
    rows->push_back(row);
  }
  MachineReading reading;
  reading.time_ns = at_ns;
  reading.has_new_processes = true;
  reading.processes = rows;
  return reading;
}

}  // namespace

TEST_CASE("a history returns its values in every span") {
  History values;
  for (std::uint64_t i = 0; i < 10; ++i)
    values.add((1000 + i) * second, static_cast<double>(10 * i));
  for (const auto span : {TimeSpan::minute, TimeSpan::ten_minutes, TimeSpan::hour, TimeSpan::day}) {
    const auto range = values.find_range(span, 0, 2000 * second, hold);
    REQUIRE(range);
    CHECK(range->low == 0);
    CHECK(range->high == 90);
  }
  const auto range = values.find_range(TimeSpan::minute, 1003 * second, 1004 * second, hold);
  REQUIRE(range);
  CHECK(range->low == 30);
  CHECK(range->high == 30);
}

TEST_CASE("a value holds until the next one, but no longer than the hold time") {
  History values;
  values.add(1000 * second, 7);
  CHECK(values.find_range(TimeSpan::minute, 1001 * second, 1002 * second, hold));
  CHECK(values.find_range(TimeSpan::minute, 1002 * second, 1003 * second, hold));
  CHECK_FALSE(values.find_range(TimeSpan::minute, 1003 * second, 1004 * second, hold));
  CHECK_FALSE(values.find_range(TimeSpan::minute, 998 * second, 999 * second, hold));
}

TEST_CASE("an unknown value is a gap, never zero") {
  History values;
  values.add(1000 * second, 7);
  values.add(1001 * second, std::nullopt);
  values.add(1005 * second, 9);
  CHECK(values.find_range(TimeSpan::minute, 1000 * second, 1001 * second, hold));
  for (std::uint64_t time = 1001; time < 1005; ++time)
    CHECK_FALSE(values.find_range(TimeSpan::minute, time * second, (time + 1) * second, hold));
  CHECK(values.find_range(TimeSpan::minute, 1005 * second, 1006 * second, hold)->low == 9);
}

TEST_CASE("a short peak is kept for a day") {
  History values;
  for (std::uint64_t i = 0; i < 86'000; ++i) values.add(i * second, i == 4000 ? 100 : 1);
  CHECK(values.highest({TimeSpan::day, 86'000 * second, hold}) == 100);
  CHECK(values.highest({TimeSpan::hour, 86'000 * second, hold}) == 1);
  const auto range = values.find_range(TimeSpan::day, 3600 * second, 4320 * second, hold);
  REQUIRE(range);
  CHECK(range->high == 100);
  CHECK(range->low == 1);
}

TEST_CASE("values older than the span are forgotten") {
  History values(10);
  for (std::uint64_t i = 0; i < 600; ++i) values.add(i * second, static_cast<double>(i));
  CHECK_FALSE(values.find_range(TimeSpan::minute, 0, 500 * second, 0));
  CHECK(values.find_range(TimeSpan::ten_minutes, 60 * second, 120 * second, 0)->low == 60);
}

TEST_CASE("an empty history returns no values") {
  const History values;
  CHECK_FALSE(values.find_range(TimeSpan::minute, 0, 1000 * second, hold));
  CHECK_FALSE(values.highest({TimeSpan::hour, 1000 * second, hold}));
}

TEST_CASE("spans cycle in both directions") {
  CHECK(next_span(TimeSpan::minute, true) == TimeSpan::ten_minutes);
  CHECK(next_span(TimeSpan::day, true) == TimeSpan::minute);
  CHECK(next_span(TimeSpan::minute, false) == TimeSpan::day);
}

TEST_CASE("process histories are bounded, and those of running processes are kept") {
  Histories histories;
  constexpr auto limit = static_cast<std::uint32_t>(Histories::max_processes);
  histories.add(make_reading(1 * second, 1, limit));
  histories.add(make_reading(2 * second, 1, limit + 10));
  CHECK(histories.find_process({1, 0, 0}) != nullptr);
  CHECK(histories.find_process({limit, 0, 0}) != nullptr);
  CHECK(histories.find_process({limit + 1, 0, 0}) == nullptr);
  // The first ten have ended: theirs are used for others.
  histories.add(make_reading(3 * second, 11, limit));
  CHECK(histories.find_process({limit + 10, 0, 0}) != nullptr);
  CHECK(histories.find_process({1, 0, 0}) == nullptr);
}
