// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "machine.hpp"

using namespace hmn;

namespace {

constexpr std::uint32_t busy = usage_field::busy_percent;
constexpr const char* load_lists = R"("processes": {"compute": [{"pid": 1001, "used": 5},
  {"pid": 1002, "used": 6}], "graphics": [{"pid": 1003, "used": 7}]})";

std::string make_sample_scenario(const std::string& samples) {
  return one_gpu(std::string(load_lists) + R"(, "process_utilization": )" + samples);
}

const Diagnostic* find_load_diagnostic(const PlainReading& reading) {
  static Diagnostic match;
  for (const Diagnostic& diagnostic : reading.find_diagnostics(subject::processes)) {
    if ((diagnostic.field & busy) == 0) continue;
    match = diagnostic;
    return &match;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the load of a process is its newest sample, or 0 without a sample") {
  Machine machine(make_sample_scenario(R"([{"pid": 1001, "age_ms": 900, "sm": 10},
    {"pid": 1001, "age_ms": 100, "sm": 55}, {"pid": 1003, "age_ms": 200, "sm": 100}])"));
  const auto rows = machine.processes();
  CHECK(find_row(rows, 1001).busy_percent == 55.0);
  CHECK(find_row(rows, 1002).busy_percent == 0.0);
  CHECK(find_row(rows, 1003).busy_percent == 100.0);
  CHECK(find_row(rows, 1001).window_ns == 2'000'000'000);
  CHECK(find_load_diagnostic(machine.reading) == nullptr);
}

TEST_CASE("without new samples every load is 0") {
  Machine machine(make_sample_scenario("[]"));
  for (const Usage& usage : machine.processes()) CHECK(usage.busy_percent == 0.0);
  CHECK(find_load_diagnostic(machine.reading) == nullptr);
}

TEST_CASE("an old sample is ignored") {
  Machine machine(make_sample_scenario(R"([{"pid": 1001, "age_ms": 5000, "sm": 90},
    {"pid": 1002, "age_ms": 10, "sm": 1}])"));
  const auto rows = machine.processes();
  CHECK(find_row(rows, 1001).busy_percent == 0.0);
  CHECK(find_row(rows, 1002).busy_percent == 1.0);
}

TEST_CASE("a load above 100 percent is dropped, with a diagnostic for its process") {
  Machine machine(make_sample_scenario(R"([{"pid": 1001, "age_ms": 10, "sm": 101},
    {"pid": 1002, "age_ms": 10, "sm": 40}])"));
  const auto rows = machine.processes();
  CHECK(!find_row(rows, 1001).busy_percent);
  CHECK(find_row(rows, 1002).busy_percent == 40.0);
  const Diagnostic* diagnostic = find_load_diagnostic(machine.reading);
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->pid == 1001);
  CHECK(diagnostic->failure.code == Status::backend);
}

TEST_CASE("a refused utilization call costs the load, but no row") {
  Machine machine(
      one_gpu(std::string(load_lists) + R"(, "results": {"nvmlDeviceGetProcessUtilization": 4})"));
  const auto rows = machine.processes();
  REQUIRE(rows.size() == 3);
  for (const Usage& usage : rows) {
    CHECK(!usage.busy_percent);
    CHECK(usage.used.has_value());
  }
  const Diagnostic* diagnostic = find_load_diagnostic(machine.reading);
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::permission);
}

TEST_CASE("a single process has the same load as in the list") {
  Machine machine(make_sample_scenario(R"([{"pid": 1001, "age_ms": 100, "sm": 55}])"));
  machine.devices();
  Usage usage;
  require_ok(machine.process(0, 1001, false, usage));
  CHECK(usage.busy_percent == 55.0);
  CHECK(usage.window_ns == 2'000'000'000);
  Usage idle;
  require_ok(machine.process(0, 1003, false, idle));
  CHECK(idle.busy_percent == 0.0);
}

TEST_CASE("reading own use does not query its load") {
  Machine machine(one_gpu(R"("processes": {"compute": [{"pid": "self", "used": 5}]})"));
  machine.devices();
  Usage usage;
  require_ok(machine.process(0, static_cast<std::uint32_t>(getpid()), true, usage));
  CHECK(usage.used == 5);
  CHECK(!usage.busy_percent);
  CHECK(machine.driver.calls("nvmlDeviceGetProcessUtilization") == 0);
}

TEST_CASE("processes of a MIG instance have no load, with a reason") {
  const std::string card_json =
      R"("processes": {"compute": [{"pid": 100, "used": 9, "gi": 1, "ci": 0}]},
      "process_utilization": [{"pid": 100, "age_ms": 10, "sm": 33}])";
  Machine machine(one_gpu(card_json +
                          R"(, "mig": {"mode": 1, "max": 7, "instances": [{"name": "MIG 1g.5gb",
      "uuid": "MIG-1", "gi": 1, "ci": 0, )" +
                          card_json + "}]}"));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  const auto rows = machine.processes(devices[1].slot);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 9);
  CHECK(!rows[0].busy_percent);
  const Diagnostic* diagnostic = find_load_diagnostic(machine.reading);
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::unsupported);
  CHECK(diagnostic->device == devices[1].slot);
  Usage row;
  require_ok(machine.process(devices[1].slot, 100, false, row));
  CHECK(row.used == 9);
  CHECK(!row.busy_percent);
  REQUIRE(find_load_diagnostic(machine.reading) != nullptr);
  CHECK(machine.driver.calls("nvmlDeviceGetProcessUtilization") == 0);
}

TEST_CASE("utilization is not queried if no process is listed") {
  Machine machine(one_gpu(R"("processes": {"compute": [], "graphics": []})"));
  CHECK(machine.processes().empty());
  CHECK(machine.driver.calls("nvmlDeviceGetProcessUtilization") == 0);
}
