// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/run_account.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

run_sample without_values(const char* why) {
  run_sample sample;
  sample.host.emplace().why = why;
  device_sample& device = sample.devices.emplace_back();
  device.why = device.why_used = why;
  return sample;
}

}  // namespace

TEST_CASE("the end of the command hides no earlier reason for a missing value") {
  run_account account(1);
  CHECK(account.why() == ended_too_early);
  account.add(without_values("no answer"));
  account.add(without_values(ended_too_early));
  CHECK(account.why() == "no answer");
  CHECK(account.devices()[0].why == "no answer");
  CHECK(account.devices()[0].why_used == "no answer");
  account.add(without_values("access denied"));
  CHECK(account.devices()[0].why == "access denied");
}

TEST_CASE("a reading without a value is a gap, unless the command had ended") {
  run_account account(1);
  auto sample = without_values("");
  sample.host->resident_bytes = 7;
  sample.devices[0].command_bytes = sample.devices[0].used_bytes = 8;
  account.add(sample);
  account.add(without_values(ended_too_early));
  CHECK(account.resident().gaps() == 0);
  CHECK(account.devices()[0].command.gaps() == 0);
  account.add(without_values("no answer"));
  CHECK(account.resident().count() == 1);
  CHECK(account.resident().gaps() == 1);
  CHECK(account.devices()[0].command.gaps() == 1);
}

TEST_CASE("a command that ended before any reading has that reason") {
  run_account account(1);
  account.add(without_values(ended_too_early));
  CHECK(account.devices()[0].why == ended_too_early);
}

TEST_CASE("the longest gap is from the start, between two values, or up to the end") {
  constexpr std::uint64_t ms = 1'000'000;
  const auto gap_of = [](std::initializer_list<std::uint64_t> times, std::uint64_t end_ms) {
    tracked value;
    for (const auto at : times) value.add(at * ms, 7);
    return value.longest_gap_ns(end_ms * ms) / ms;
  };
  CHECK(gap_of({0, 100, 200}, 250) == 100);
  CHECK(gap_of({900, 1000}, 1050) == 900);
  CHECK(gap_of({0, 100, 3700, 3800}, 3900) == 3600);
  CHECK(gap_of({0, 100, 5000}, 12'000) == 7000);
  CHECK(gap_of({}, 300) == 300);
}

TEST_CASE("a reading without a value shortens no gap, but nothing to read does") {
  tracked value;
  value.add(0, 7);
  value.add(1000, std::nullopt);
  value.add(2000, 7);
  CHECK(value.longest_gap_ns(2000) == 2000);
  tracked asleep;
  asleep.add(0, 7);
  asleep.add(1000, std::nullopt, true);
  asleep.add(2000, 7);
  CHECK(asleep.longest_gap_ns(2000) == 1000);
}

TEST_CASE("values that are renewed more seldom than they are read have the interval of that") {
  tracked value;
  for (std::uint64_t i = 0; i <= 20; ++i) value.add(i * 100, 7, false, i % 10 * 100);
  CHECK(value.longest_gap_ns(2000) == 1000);
}
