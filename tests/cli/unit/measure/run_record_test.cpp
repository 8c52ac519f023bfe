// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/run_record.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace hmn::cli;

namespace {

RunSample make_empty_sample(const char* reason) {
  RunSample sample;
  sample.host.emplace().reason = reason;
  DeviceSample& device = sample.devices.emplace_back();
  device.reason = device.used_reason = reason;
  return sample;
}

}  // namespace

TEST_CASE("the end of the command does not replace an earlier reason for a missing value") {
  RunAccount account(1);
  CHECK(account.reason() == ended_too_early);
  account.add(make_empty_sample("no answer"));
  account.add(make_empty_sample(ended_too_early));
  CHECK(account.reason() == "no answer");
  CHECK(account.devices()[0].reason == "no answer");
  CHECK(account.devices()[0].used_reason == "no answer");
  account.add(make_empty_sample("access denied"));
  CHECK(account.devices()[0].reason == "access denied");
}

TEST_CASE("a reading without a value is a gap unless the command has ended") {
  RunAccount account(1);
  auto sample = make_empty_sample("");
  sample.host->resident_bytes = 7;
  sample.devices[0].command_bytes = sample.devices[0].used_bytes = 8;
  account.add(sample);
  account.add(make_empty_sample(ended_too_early));
  CHECK(account.resident().gaps() == 0);
  CHECK(account.devices()[0].command.gaps() == 0);
  account.add(make_empty_sample("no answer"));
  CHECK(account.resident().count() == 1);
  CHECK(account.resident().gaps() == 1);
  CHECK(account.devices()[0].command.gaps() == 1);
}

TEST_CASE("one partly visible sample makes the peak a lower bound") {
  RunAccount account(1);
  auto sample = make_empty_sample("");
  sample.devices[0].is_used_lower_bound = true;
  account.add(sample);
  CHECK_FALSE(account.devices()[0].is_used_lower_bound);
  sample.devices[0].used_bytes = 8;
  account.add(sample);
  sample.devices[0].is_used_lower_bound = false;
  account.add(sample);
  CHECK(account.devices()[0].is_used_lower_bound);
  CHECK_FALSE(account.devices()[0].is_lower_bound);
}

TEST_CASE("a command that ended before any reading has that as its reason") {
  RunAccount account(1);
  account.add(make_empty_sample(ended_too_early));
  CHECK(account.devices()[0].reason == ended_too_early);
}

TEST_CASE("the longest gap may be before the first value, between two or after the last") {
  constexpr std::uint64_t ms = 1'000'000;
  const auto longest_gap = [](std::initializer_list<std::uint64_t> times, std::uint64_t end_ms) {
    TrackedValue value;
    for (const auto time : times) value.add(time * ms, 7);
    return value.longest_gap_ns(end_ms * ms) / ms;
  };
  CHECK(longest_gap({0, 100, 200}, 250) == 100);
  CHECK(longest_gap({900, 1000}, 1050) == 900);
  CHECK(longest_gap({0, 100, 3700, 3800}, 3900) == 3600);
  CHECK(longest_gap({0, 100, 5000}, 12'000) == 7000);
  CHECK(longest_gap({}, 300) == 300);
}

TEST_CASE("a missing value does not shorten a gap, but a sleeping device does") {
  TrackedValue value;
  value.add(0, 7);
  value.add(1000, std::nullopt);
  value.add(2000, 7);
  CHECK(value.longest_gap_ns(2000) == 2000);
  TrackedValue asleep;
  asleep.add(0, 7);
  asleep.add(1000, std::nullopt, true);
  asleep.add(2000, 7);
  CHECK(asleep.longest_gap_ns(2000) == 1000);
}

TEST_CASE("the longest gap follows the interval at which the driver renews a value") {
  TrackedValue value;
  for (std::uint64_t i = 0; i <= 20; ++i) value.add(i * 100, 7, false, i % 10 * 100);
  CHECK(value.longest_gap_ns(2000) == 1000);
}

namespace {

RunSample make_full_sample() {
  RunSample sample;
  sample.offset_ns = 1'500'000'000;
  sample.unix_time_ns = 17;
  sample.host = HostSample{2, 3000, 2000, std::nullopt, 4000, {}};
  DeviceSample device;
  device.command_bytes = 5000;
  device.used_bytes = 6000;
  device.power_watts = 70.5;
  sample.devices = {device};
  return sample;
}

}  // namespace

TEST_CASE("the file name's extension selects the timeline format") {
  CHECK(choose_timeline_form("a.csv") == TimelineForm::csv);
  CHECK(choose_timeline_form("a.b.jsonl") == TimelineForm::json_lines);
  CHECK(choose_timeline_form("/x/a.ndjson") == TimelineForm::json_lines);
  CHECK(choose_timeline_form("/dev/null") == TimelineForm::json_lines);
  CHECK(choose_timeline_form("csv") == TimelineForm::json_lines);
}

TEST_CASE("a JSON line has null for unknown values") {
  CHECK(format_timeline_line(TimelineForm::json_lines, make_full_sample(), {3}) ==
        "{\"offset_ns\":1500000000,\"unix_time_ns\":17,\"processes\":2,\"resident_bytes\":3000,"
        "\"proportional_bytes\":null,\"group_bytes\":4000,\"devices\":[{\"index\":3,"
        "\"command_bytes\":5000,\"used_bytes\":6000,\"gpu_busy_percent\":null,\"power_watts\":70.5,"
        "\"energy_joules\":null,\"lower_bound\":false,\"reason\":null}]}\n");
  CHECK(format_timeline_header(TimelineForm::json_lines, {3}).empty());
}

TEST_CASE("a JSON line has the reason for a missing device value") {
  auto sample = make_full_sample();
  sample.devices[0].command_bytes.reset();
  sample.devices[0].reason = "say \"please\"";
  const auto line = format_timeline_line(TimelineForm::json_lines, sample, {3});
  CHECK(line.find("\"command_bytes\":null") != std::string::npos);
  CHECK(line.find("\"reason\":\"say \\\"please\\\"\"") != std::string::npos);
}

TEST_CASE("each CSV line has as many cells as its header") {
  auto bare = make_full_sample();
  bare.devices.clear();
  bare.host.reset();
  const auto count_commas = [](const std::string& text) {
    return std::count(text.begin(), text.end(), ',');
  };
  const auto header = format_timeline_header(TimelineForm::csv, {3, 4});
  CHECK(header.find("gpu3_command_bytes") != std::string::npos);
  CHECK(header.find("gpu4_power_watts") != std::string::npos);
  for (const auto& sample : {make_full_sample(), bare})
    CHECK(count_commas(format_timeline_line(TimelineForm::csv, sample, {3, 4})) ==
          count_commas(header));
  CHECK(format_timeline_line(TimelineForm::csv, bare, {}) == "1.500,17,,,,\n");
}
