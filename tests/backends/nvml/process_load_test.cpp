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

std::string with_samples(const std::string& samples) {
  return one_gpu(std::string(load_lists) + R"(, "process_utilization": )" + samples);
}

const Diagnostic* about_load(const PlainReading& r) {
  static Diagnostic found;
  for (const Diagnostic& d : r.about(subject::processes)) {
    if ((d.field & busy) == 0) continue;
    found = d;
    return &found;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the newest sample of a process is its load; no sample is none") {
  Machine m(with_samples(R"([{"pid": 1001, "age_ms": 900, "sm": 10},
    {"pid": 1001, "age_ms": 100, "sm": 55}, {"pid": 1003, "age_ms": 200, "sm": 100}])"));
  const auto rows = m.processes();
  CHECK(row_of(rows, 1001).busy_percent == 55.0);
  CHECK(row_of(rows, 1002).busy_percent == 0.0);
  CHECK(row_of(rows, 1003).busy_percent == 100.0);
  CHECK(row_of(rows, 1001).window_ns == 2'000'000'000);
  CHECK(about_load(m.reading) == nullptr);
}

TEST_CASE("a driver that has no new sample says that nothing ran") {
  Machine m(with_samples("[]"));
  for (const Usage& u : m.processes()) CHECK(u.busy_percent == 0.0);
  CHECK(about_load(m.reading) == nullptr);
}

TEST_CASE("an old sample tells nothing of now") {
  Machine m(with_samples(R"([{"pid": 1001, "age_ms": 5000, "sm": 90},
    {"pid": 1002, "age_ms": 10, "sm": 1}])"));
  const auto rows = m.processes();
  CHECK(row_of(rows, 1001).busy_percent == 0.0);
  CHECK(row_of(rows, 1002).busy_percent == 1.0);
}

TEST_CASE("more than 100 percent is absent, with the process that it was of") {
  Machine m(with_samples(R"([{"pid": 1001, "age_ms": 10, "sm": 101},
    {"pid": 1002, "age_ms": 10, "sm": 40}])"));
  const auto rows = m.processes();
  CHECK(!row_of(rows, 1001).busy_percent);
  CHECK(row_of(rows, 1002).busy_percent == 40.0);
  const Diagnostic* d = about_load(m.reading);
  REQUIRE(d != nullptr);
  CHECK(d->pid == 1001);
  CHECK(d->why.code == Status::backend);
}

TEST_CASE("a driver that refuses costs the load and no row") {
  Machine m(
      one_gpu(std::string(load_lists) + R"(, "results": {"nvmlDeviceGetProcessUtilization": 4})"));
  const auto rows = m.processes();
  REQUIRE(rows.size() == 3);
  for (const Usage& u : rows) {
    CHECK(!u.busy_percent);
    CHECK(u.used.has_value());
  }
  const Diagnostic* d = about_load(m.reading);
  REQUIRE(d != nullptr);
  CHECK(d->why.code == Status::permission);
}

TEST_CASE("one process has the load that lists have") {
  Machine m(with_samples(R"([{"pid": 1001, "age_ms": 100, "sm": 55}])"));
  m.devices();
  Usage u;
  require_ok(m.process(0, 1001, false, u));
  CHECK(u.busy_percent == 55.0);
  CHECK(u.window_ns == 2'000'000'000);
  Usage idle;
  require_ok(m.process(0, 1003, false, idle));
  CHECK(idle.busy_percent == 0.0);
}

TEST_CASE("the caller's own figure costs no call for its load") {
  Machine m(one_gpu(R"("processes": {"compute": [{"pid": "self", "used": 5}]})"));
  m.devices();
  Usage u;
  require_ok(m.process(0, static_cast<std::uint32_t>(getpid()), true, u));
  CHECK(u.used == 5);
  CHECK(!u.busy_percent);
  CHECK(m.driver.calls("nvmlDeviceGetProcessUtilization") == 0);
}

TEST_CASE("on an instance of MIG there is no load, and a reason, whatever the driver says") {
  const std::string row = R"("processes": {"compute": [{"pid": 100, "used": 9, "gi": 1, "ci": 0}]},
      "process_utilization": [{"pid": 100, "age_ms": 10, "sm": 33}])";
  Machine m(one_gpu(row + R"(, "mig": {"mode": 1, "max": 7, "instances": [{"name": "MIG 1g.5gb",
      "uuid": "MIG-1", "gi": 1, "ci": 0, )" +
                    row + "}]}"));
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  const auto rows = m.processes(found[1].number);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 9);
  CHECK(!rows[0].busy_percent);
  const Diagnostic* d = about_load(m.reading);
  REQUIRE(d != nullptr);
  CHECK(d->why.code == Status::unsupported);
  CHECK(d->device == found[1].number);
  Usage one;
  require_ok(m.process(found[1].number, 100, false, one));
  CHECK(one.used == 9);
  CHECK(!one.busy_percent);
  REQUIRE(about_load(m.reading) != nullptr);
  CHECK(m.driver.calls("nvmlDeviceGetProcessUtilization") == 0);
}

TEST_CASE("nothing is asked where nothing runs") {
  Machine m(one_gpu(R"("processes": {"compute": [], "graphics": []})"));
  CHECK(m.processes().empty());
  CHECK(m.driver.calls("nvmlDeviceGetProcessUtilization") == 0);
}
