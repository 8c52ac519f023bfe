// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/history.hpp"

#include <doctest/doctest.h>

using hmn::cli::top::Histories;
using hmn::cli::top::History;
using hmn::cli::top::MachineReading;
using hmn::cli::top::next_span;
using hmn::cli::top::ProcessReading;
using hmn::cli::top::ProcessReadings;
using hmn::cli::top::Span;

namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t hold = 5 * second / 2;

MachineReading reading_of(std::uint64_t at_ns, std::uint32_t first_pid, std::uint32_t count) {
  auto rows = std::make_shared<ProcessReadings>();
  for (std::uint32_t i = 0; i < count; ++i) {
    ProcessReading row;
    row.usage.pid = first_pid + i;
    row.usage.used_bytes = 1000;
    rows->push_back(row);
  }
  MachineReading made;
  made.at_ns = at_ns;
  made.has_processes = true;
  made.processes = rows;
  return made;
}

}  // namespace

TEST_CASE("a history returns what it was given, in every span") {
  History values;
  for (std::uint64_t i = 0; i < 10; ++i)
    values.add((1000 + i) * second, static_cast<double>(10 * i));
  for (const auto which : {Span::minute, Span::ten_minutes, Span::hour, Span::day}) {
    const auto found = values.between(which, 0, 2000 * second, hold);
    REQUIRE(found);
    CHECK(found->low == 0);
    CHECK(found->high == 90);
  }
  const auto one = values.between(Span::minute, 1003 * second, 1004 * second, hold);
  REQUIRE(one);
  CHECK(one->low == 30);
  CHECK(one->high == 30);
}

TEST_CASE("a value holds until the next one, and no longer than is expected of it") {
  History values;
  values.add(1000 * second, 7);
  CHECK(values.between(Span::minute, 1001 * second, 1002 * second, hold));
  CHECK(values.between(Span::minute, 1002 * second, 1003 * second, hold));
  CHECK_FALSE(values.between(Span::minute, 1003 * second, 1004 * second, hold));
  CHECK_FALSE(values.between(Span::minute, 998 * second, 999 * second, hold));
}

TEST_CASE("an unknown value is a gap, never zero") {
  History values;
  values.add(1000 * second, 7);
  values.add(1001 * second, std::nullopt);
  values.add(1005 * second, 9);
  CHECK(values.between(Span::minute, 1000 * second, 1001 * second, hold));
  for (std::uint64_t at = 1001; at < 1005; ++at)
    CHECK_FALSE(values.between(Span::minute, at * second, (at + 1) * second, hold));
  CHECK(values.between(Span::minute, 1005 * second, 1006 * second, hold)->low == 9);
}

TEST_CASE("a peak of a moment is kept for a day") {
  History values;
  for (std::uint64_t i = 0; i < 86'000; ++i) values.add(i * second, i == 4000 ? 100 : 1);
  CHECK(values.highest({Span::day, 86'000 * second, hold}) == 100);
  CHECK(values.highest({Span::hour, 86'000 * second, hold}) == 1);
  const auto around = values.between(Span::day, 3600 * second, 4320 * second, hold);
  REQUIRE(around);
  CHECK(around->high == 100);
  CHECK(around->low == 1);
}

TEST_CASE("what is older than the span is forgotten") {
  History values(10);
  for (std::uint64_t i = 0; i < 600; ++i) values.add(i * second, static_cast<double>(i));
  CHECK_FALSE(values.between(Span::minute, 0, 500 * second, 0));
  CHECK(values.between(Span::ten_minutes, 60 * second, 120 * second, 0)->low == 60);
}

TEST_CASE("an empty history has gaps only") {
  const History values;
  CHECK_FALSE(values.between(Span::minute, 0, 1000 * second, hold));
  CHECK_FALSE(values.highest({Span::hour, 1000 * second, hold}));
}

TEST_CASE("spans follow each other in a circle") {
  CHECK(next_span(Span::minute, true) == Span::ten_minutes);
  CHECK(next_span(Span::day, true) == Span::minute);
  CHECK(next_span(Span::minute, false) == Span::day);
}

TEST_CASE("histories of processes are bounded, and those that run are never dropped") {
  Histories all;
  constexpr auto most = static_cast<std::uint32_t>(Histories::most_processes);
  all.add(reading_of(1 * second, 1, most));
  all.add(reading_of(2 * second, 1, most + 10));
  CHECK(all.of_process({1, 0, 0}) != nullptr);
  CHECK(all.of_process({most, 0, 0}) != nullptr);
  CHECK(all.of_process({most + 1, 0, 0}) == nullptr);
  // The first ten have ended: theirs are used for others.
  all.add(reading_of(3 * second, 11, most));
  CHECK(all.of_process({most + 10, 0, 0}) != nullptr);
  CHECK(all.of_process({1, 0, 0}) == nullptr);
}
