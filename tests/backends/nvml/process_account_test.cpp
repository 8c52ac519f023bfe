// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "machine.hpp"

using namespace hmn;

namespace {

constexpr std::uint32_t peak = usage_field::peak_used;
constexpr const char* account_lists = R"("processes": {"compute": [{"pid": 1001, "used": 5000},
  {"pid": 1002, "used": 6000}], "graphics": [{"pid": 1003, "used": 7000}]})";

std::string make_account_scenario(const std::string& accounts) {
  return one_gpu(std::string(account_lists) + R"(, "accounts": )" + accounts);
}

std::vector<Diagnostic> find_peak_diagnostics(const PlainReading& reading) {
  std::vector<Diagnostic> matches;
  for (const Diagnostic& diagnostic : reading.find_diagnostics(subject::processes)) {
    if ((diagnostic.field & peak) != 0) matches.push_back(diagnostic);
  }
  return matches;
}

unsigned long long count_account_calls(const Machine& machine) {
  return machine.driver.calls("nvmlDeviceGetAccountingStats");
}

}  // namespace

TEST_CASE("the peak of a process comes from the driver's accounting") {
  Machine machine(make_account_scenario(R"([{"pid": 1001, "most": "9 GiB", "running": true},
    {"pid": 1003, "most": 7000, "running": true}])"));
  const auto rows = machine.processes();
  CHECK(find_row(rows, 1001).peak_used == 9 * gib);
  CHECK(find_row(rows, 1001).used == 5000);
  CHECK(!find_row(rows, 1001).accounted_since_ns);
  CHECK(!find_row(rows, 1002).peak_used);
  CHECK(find_row(rows, 1003).peak_used == 7000);
  // 1002 started before accounting was turned on.
  const auto diagnostics = find_peak_diagnostics(machine.reading);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].pid == 1002);
  CHECK(diagnostics[0].failure.code == Status::unsupported);
  Usage row;
  require_ok(machine.process(0, 1001, false, row));
  CHECK(row.peak_used == 9 * gib);
  CHECK(row.used == 5000);
  CHECK(!row.accounted_since_ns);
}

TEST_CASE("with accounting off no process is queried, and the reason says how to turn it on") {
  Machine machine(one_gpu(std::string(account_lists) + R"(, "accounting_mode": 0)"));
  for (const Usage& usage : machine.processes()) CHECK(!usage.peak_used);
  const auto diagnostics = find_peak_diagnostics(machine.reading);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].failure.code == Status::unsupported);
  CHECK(diagnostics[0].failure.message.view().find("--accounting-mode=1") !=
        std::string_view::npos);
  CHECK(count_account_calls(machine) == 0);
}

TEST_CASE("a card or a library without accounting loses nothing else") {
  Machine machine(one_gpu(account_lists));
  for (const Usage& usage : machine.processes()) CHECK((usage.used && !usage.peak_used));
  CHECK(find_peak_diagnostics(machine.reading).empty());
  Machine older(make_account_scenario(R"([{"pid": 1001, "most": 9000, "running": true}])"),
                std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-init_only/libnvidia-ml.so.1");
  CHECK(older.devices().size() == 1);
}

TEST_CASE("impossible peaks are dropped with a reason") {
  Machine machine(make_account_scenario(R"([{"pid": 1001, "most": "17 GiB", "running": true},
    {"pid": 1002, "most": 5999, "running": true}, {"pid": 1003, "most": null, "running": true}])"));
  machine.devices();
  for (const Usage& usage : machine.processes()) CHECK(!usage.peak_used);
  const auto diagnostics = find_peak_diagnostics(machine.reading);
  REQUIRE(diagnostics.size() == 3);
  CHECK(diagnostics[0].pid == 1002U);  // less than it holds
  CHECK(diagnostics[0].failure.code == Status::backend);
  CHECK(diagnostics[1].pid == 1003U);
  CHECK(diagnostics[1].failure.code == Status::unsupported);
  CHECK(diagnostics[2].pid == 1001U);  // more than the device has
  CHECK(diagnostics[2].failure.code == Status::backend);
}

TEST_CASE("an ended account is not used for a listed process of the same PID") {
  Machine machine(make_account_scenario(R"([{"pid": 1001, "most": "9 GiB"},
    {"pid": 1001, "most": "2 GiB", "running": true}])"));
  CHECK(!find_row(machine.processes(), 1001).peak_used);
  CHECK(find_peak_diagnostics(machine.reading)[0].pid == 1001);
}

TEST_CASE("the account of an ended process can be read") {
  Machine machine(
      make_account_scenario(R"([{"pid": 4711, "most": "9 GiB", "start_us": 1700000000000001}])"));
  machine.devices();
  Usage usage;
  require_ok(machine.process(0, 4711, false, usage));
  CHECK(usage.pid == 4711);
  CHECK(usage.peak_used == 9 * gib);
  CHECK(!usage.used);
  CHECK(!usage.kinds);
  CHECK(usage.source == Source::nvml);
  CHECK(usage.accounted_since_ns == 1'700'000'000'000'001'000U);
  Usage none;
  const auto other = machine.process(0, 4712, false, none);
  REQUIRE_FALSE(other);
  CHECK(other.failure().code == Status::no_process);
  // It is not a row of the list.
  CHECK(machine.processes().size() == 3);
}

TEST_CASE("the account of an ended process must fit the device") {
  Machine machine(
      make_account_scenario(R"([{"pid": 1, "most": null}, {"pid": 2, "most": "17 GiB"}])"));
  machine.devices();
  for (const auto& [pid, expected] : {std::pair(1U, Status::no_process), {2U, Status::backend}}) {
    Usage usage;
    const auto result = machine.process(0, pid, false, usage);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == expected);
  }
}

// The driver keeps accounts by the host's pids.
TEST_CASE("in another PID namespace no account is queried") {
  Machine machine(make_account_scenario(R"([{"pid": 1001, "most": "9 GiB", "running": true},
    {"pid": 4711, "most": "9 GiB"}])"));
  machine.add_self({}, other_namespace);
  for (const Usage& usage : machine.processes()) CHECK(!usage.peak_used);
  Usage usage;
  CHECK_FALSE(machine.process(0, 4711, false, usage));
  CHECK(count_account_calls(machine) == 0);
}

TEST_CASE("reading own use does not query its peak") {
  Machine machine(one_gpu(R"("processes": {"compute": [{"pid": "self", "used": 5}]},
    "accounts": [{"pid": "self", "most": 9, "running": true}])"));
  machine.devices();
  Usage usage;
  require_ok(machine.process(0, static_cast<std::uint32_t>(getpid()), true, usage));
  CHECK(usage.used == 5);
  CHECK(!usage.peak_used);
  CHECK(count_account_calls(machine) == 0);
}

TEST_CASE("with MIG no account is queried") {
  const std::string row = R"("processes": {"compute": [{"pid": 100, "used": 9, "gi": 1, "ci": 0}]},
      "accounts": [{"pid": 100, "most": 10, "running": true}])";
  Machine machine(one_gpu(row +
                          R"(, "mig": {"mode": 1, "max": 7, "instances": [{"name": "MIG 1g.5gb",
      "uuid": "MIG-1", "gi": 1, "ci": 0, )" +
                          row + "}]}"));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  const auto rows = machine.processes(devices[1].slot);
  REQUIRE(rows.size() == 1);
  CHECK(!rows[0].peak_used);
  CHECK(machine.driver.calls("nvmlDeviceGetAccountingMode") == 0);
}

TEST_CASE("no further account is queried once the GPU is lost") {
  Machine machine(one_gpu(std::string(account_lists) + R"(, "accounts": [],
    "results": {"nvmlDeviceGetAccountingStats": "GPU_IS_LOST"})"));
  CHECK(machine.processes().size() == 3);
  CHECK(count_account_calls(machine) == 1);
}
