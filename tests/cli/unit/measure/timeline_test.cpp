// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/timeline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace hmn::cli;

namespace {

run_sample whole() {
  run_sample sample;
  sample.offset_ns = 1'500'000'000;
  sample.unix_time_ns = 17;
  sample.host = host_sample{2, 3000, std::nullopt, 4000, {}};
  device_sample device;
  device.command_bytes = 5000;
  device.used_bytes = 6000;
  device.power_watts = 70.5;
  sample.devices = {device};
  return sample;
}

}  // namespace

TEST_CASE("the ending of the name says the form") {
  CHECK(*timeline_form_of("a.csv") == timeline_form::csv);
  CHECK(*timeline_form_of("a.b.jsonl") == timeline_form::json_lines);
  CHECK(*timeline_form_of("/x/a.ndjson") == timeline_form::json_lines);
  CHECK_FALSE(timeline_form_of("a.txt"));
  CHECK_FALSE(timeline_form_of("csv"));
  CHECK(timeline_form_of("a").why().code == exit_code::usage);
}

TEST_CASE("a line of JSON; what is not known is null") {
  CHECK(timeline_line(timeline_form::json_lines, whole(), {3}) ==
        "{\"offset_ns\":1500000000,\"unix_time_ns\":17,\"processes\":2,\"resident_bytes\":3000,"
        "\"proportional_bytes\":null,\"group_bytes\":4000,\"devices\":[{\"index\":3,"
        "\"command_bytes\":5000,\"used_bytes\":6000,\"gpu_busy_percent\":null,\"power_watts\":70.5,"
        "\"energy_joules\":null,\"lower_bound\":false,\"reason\":null}]}\n");
  CHECK(timeline_header(timeline_form::json_lines, {3}).empty());
}

TEST_CASE("the reason is told where a device's driver says nothing") {
  auto sample = whole();
  sample.devices[0].command_bytes.reset();
  sample.devices[0].why = "say \"please\"";
  const auto line = timeline_line(timeline_form::json_lines, sample, {3});
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
  const auto header = timeline_header(timeline_form::csv, {3, 4});
  CHECK(header.find("gpu3_command_bytes") != std::string::npos);
  CHECK(header.find("gpu4_power_watts") != std::string::npos);
  for (const auto& sample : {whole(), alone})
    CHECK(commas(timeline_line(timeline_form::csv, sample, {3, 4})) == commas(header));
  CHECK(timeline_line(timeline_form::csv, alone, {}) == "1.500,17,,,,\n");
}
