// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/run_record.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace hmn::cli;

namespace {

RunSample without_values(const char* why) {
  RunSample sample;
  sample.host.emplace().why = why;
  DeviceSample& device = sample.devices.emplace_back();
  device.why = device.why_used = why;
  return sample;
}

}  // namespace

TEST_CASE("the end of the command hides no earlier reason for a missing value") {
  RunAccount account(1);
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
  RunAccount account(1);
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

TEST_CASE("one sample of a part makes the peak a lower bound") {
  RunAccount account(1);
  auto sample = without_values("");
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

TEST_CASE("a command that ended before any reading has that reason") {
  RunAccount account(1);
  account.add(without_values(ended_too_early));
  CHECK(account.devices()[0].why == ended_too_early);
}

TEST_CASE("the longest gap is from the start, between two values, or up to the end") {
  constexpr std::uint64_t ms = 1'000'000;
  const auto gap_of = [](std::initializer_list<std::uint64_t> times, std::uint64_t end_ms) {
    Tracked value;
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
  Tracked value;
  value.add(0, 7);
  value.add(1000, std::nullopt);
  value.add(2000, 7);
  CHECK(value.longest_gap_ns(2000) == 2000);
  Tracked asleep;
  asleep.add(0, 7);
  asleep.add(1000, std::nullopt, true);
  asleep.add(2000, 7);
  CHECK(asleep.longest_gap_ns(2000) == 1000);
}

TEST_CASE("values that are renewed more seldom than they are read have the interval of that") {
  Tracked value;
  for (std::uint64_t i = 0; i <= 20; ++i) value.add(i * 100, 7, false, i % 10 * 100);
  CHECK(value.longest_gap_ns(2000) == 1000);
}

namespace {

RunSample whole() {
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

TEST_CASE("the ending of the name says the form") {
  CHECK(timeline_form_of("a.csv") == TimelineForm::csv);
  CHECK(timeline_form_of("a.b.jsonl") == TimelineForm::json_lines);
  CHECK(timeline_form_of("/x/a.ndjson") == TimelineForm::json_lines);
  CHECK(timeline_form_of("/dev/null") == TimelineForm::json_lines);
  CHECK(timeline_form_of("csv") == TimelineForm::json_lines);
}

TEST_CASE("a line of JSON; what is not known is null") {
  CHECK(timeline_line(TimelineForm::json_lines, whole(), {3}) ==
        "{\"offset_ns\":1500000000,\"unix_time_ns\":17,\"processes\":2,\"resident_bytes\":3000,"
        "\"proportional_bytes\":null,\"group_bytes\":4000,\"devices\":[{\"index\":3,"
        "\"command_bytes\":5000,\"used_bytes\":6000,\"gpu_busy_percent\":null,\"power_watts\":70.5,"
        "\"energy_joules\":null,\"lower_bound\":false,\"reason\":null}]}\n");
  CHECK(timeline_header(TimelineForm::json_lines, {3}).empty());
}

TEST_CASE("the reason is told where a device's driver says nothing") {
  auto sample = whole();
  sample.devices[0].command_bytes.reset();
  sample.devices[0].why = "say \"please\"";
  const auto line = timeline_line(TimelineForm::json_lines, sample, {3});
  CHECK(line.find("\"command_bytes\":null") != std::string::npos);
  CHECK(line.find("\"reason\":\"say \\\"please\\\"\"") != std::string::npos);
}

TEST_CASE("each line of CSV has the cells of the header") {
  auto alone = whole();
  alone.devices.clear();
  alone.host.reset();
  const auto commas = [](const std::string& text) {
    return std::count(text.begin(), text.end(), ',');
  };
  const auto header = timeline_header(TimelineForm::csv, {3, 4});
  CHECK(header.find("gpu3_command_bytes") != std::string::npos);
  CHECK(header.find("gpu4_power_watts") != std::string::npos);
  for (const auto& sample : {whole(), alone})
    CHECK(commas(timeline_line(TimelineForm::csv, sample, {3, 4})) == commas(header));
  CHECK(timeline_line(TimelineForm::csv, alone, {}) == "1.500,17,,,,\n");
}
