// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The last fault of a device: one raised while it was watched, otherwise a reason.
#include "backends/nvml/telemetry.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "machine.hpp"

using namespace hmn;

namespace {

constexpr const char* watchable =
    R"("event_types": 8, "temperature": 45, "processes": {"compute": []})";
constexpr auto field = missing_metric(MetricId::last_fault);

struct FaultReading {
  std::optional<std::uint64_t> xid;
  std::optional<Diagnostic> diagnostic;
  bool has_temperature = false;
};

FaultReading read_fault(Machine& machine, Slot number = 0) {
  FaultReading fault;
  require_ok(machine.prepare());
  std::vector<Metric> all;
  require_ok(machine.source().metrics(number, false, all, machine.reading));
  for (const Metric& metric : all) {
    if (metric.id == MetricId::last_fault) fault.xid = metric.count;
    if (metric.id == MetricId::temperature) fault.has_temperature = true;
  }
  for (const Diagnostic& diagnostic : machine.reading.find_diagnostics(subject::metrics)) {
    if (diagnostic.field == field) fault.diagnostic = diagnostic;
  }
  return fault;
}

Status get_missing_status(const FaultReading& fault) {
  CHECK_FALSE(fault.xid);
  return fault.diagnostic ? fault.diagnostic->failure.code : Status::ok;
}

std::string two_gpus() {
  return make_scenario(gpu(1, watchable) + "," + gpu(2, watchable));
}

}  // namespace

TEST_CASE("before any fault, a reason is reported instead of an XID") {
  Machine machine(one_gpu(watchable));
  for (int i = 0; i < 2; ++i) {
    const FaultReading fault = read_fault(machine);
    CHECK(get_missing_status(fault) == Status::unsupported);
    CHECK(fault.diagnostic->failure.message.view().find("no fault since") !=
          std::string_view::npos);
    CHECK(fault.has_temperature);
  }
  CHECK(machine.driver.calls("nvmlDeviceRegisterEvents") == 1);
  CHECK(machine.driver.waited_ms() == 0);
}

TEST_CASE("the last fault is reported, and stays reported") {
  Machine machine(two_gpus());
  read_fault(machine, 0);
  read_fault(machine, 1);
  machine.driver.raise(1, 31);
  CHECK(read_fault(machine, 1).xid == 31);
  CHECK(get_missing_status(read_fault(machine, 0)) == Status::unsupported);
  machine.driver.raise(1, 43);
  machine.driver.raise(0, 13);
  machine.driver.raise(1, 79);
  CHECK(read_fault(machine, 0).xid == 13);
  const FaultReading second = read_fault(machine, 1);
  CHECK(second.xid == 79);
  CHECK_FALSE(second.diagnostic);
  CHECK(read_fault(machine, 1).xid == 79);
  CHECK(machine.driver.event_sets() == 1);
  CHECK(machine.driver.waited_ms() == 0);
}

TEST_CASE("faults are watched only once metrics are requested") {
  Machine machine(one_gpu(watchable));
  machine.pool();
  machine.telemetry();
  machine.processes();
  CHECK(machine.driver.calls("nvmlEventSetCreate") == 0);
  read_fault(machine);
  const auto waits = machine.driver.calls("nvmlEventSetWait_v2");
  machine.pool();
  machine.telemetry();
  CHECK(machine.driver.calls("nvmlEventSetWait_v2") == waits);
}

TEST_CASE("faults beyond the limit of one reading are collected by the next reading") {
  Machine machine(one_gpu(watchable));
  read_fault(machine);
  for (unsigned n = 0; n < 300; ++n) machine.driver.raise(0, n);
  CHECK(read_fault(machine).xid == 255);
  CHECK(read_fault(machine).xid == 299);
}

TEST_CASE("a fault without a number is reported as a failure until a numbered one follows") {
  Machine machine(one_gpu(watchable));
  read_fault(machine);
  machine.driver.raise(0, 999);
  const FaultReading fault = read_fault(machine);
  CHECK(get_missing_status(fault) == Status::backend);
  machine.driver.raise(0, 48);
  CHECK(read_fault(machine).xid == 48);
}

TEST_CASE("a device without fault events is reported as unsupported and not watched") {
  Machine machine(one_gpu());
  SUBCASE("the fault event is not supported") {
    machine.driver.load(one_gpu(R"("event_types": 20, "temperature": 45)"));
  }
  SUBCASE("the supported events are not reported") {
    machine.driver.load(one_gpu(R"("temperature": 45)"));
  }
  const FaultReading fault = read_fault(machine);
  CHECK(get_missing_status(fault) == Status::unsupported);
  CHECK(fault.diagnostic->failure.message.view().find("no fault") == std::string_view::npos);
  CHECK(fault.has_temperature);
  CHECK(machine.driver.calls("nvmlEventSetCreate") == 0);
  CHECK(machine.driver.calls("nvmlEventSetWait_v2") == 0);
}

TEST_CASE("a MIG instance has no fault events, and its GPU reports them") {
  Machine machine(
      make_scenario(gpu(1, R"("event_types": 8, "mig": {"mode": 1, "max": 1, "instances": [
    {"name": "MIG", "uuid": "MIG-1", "event_types": 8}]})")));
  REQUIRE(machine.devices().size() == 2);
  read_fault(machine, 0);
  CHECK(get_missing_status(read_fault(machine, 1)) == Status::unsupported);
  machine.driver.raise(0, 94);
  CHECK(read_fault(machine, 0).xid == 94);
  CHECK(get_missing_status(read_fault(machine, 1)) == Status::unsupported);
  CHECK(machine.driver.calls("nvmlDeviceRegisterEvents") == 1);
}

TEST_CASE("a failing event call costs only the fault, with a reason") {
  const char* const calls[] = {"nvmlDeviceGetSupportedEventTypes", "nvmlEventSetCreate",
                               "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2"};
  for (const char* call : calls) {
    for (const auto& [code, expected] :
         {std::pair{4, Status::permission}, {999, Status::backend}}) {
      CAPTURE(call);
      Machine machine(one_gpu(watchable, R"("rules": [{"call": ")" + std::string(call) +
                                             R"(", "result": )" + std::to_string(code) + "}]"));
      for (int i = 0; i < 2; ++i) {
        const FaultReading fault = read_fault(machine);
        CHECK(get_missing_status(fault) == expected);
        CHECK(fault.diagnostic->failure.native.code == code);
        CHECK(fault.has_temperature);
      }
      CHECK(machine.driver.calls("nvmlDeviceGetSupportedEventTypes") == 1);
      machine.restart();
      CHECK(machine.driver.event_sets() == 0);
    }
  }
}

// NVML's documentation: after UNKNOWN the set must not be used.
TEST_CASE("a registration that invalidates the event set affects only its own device") {
  Machine machine(make_scenario(gpu(1, watchable) + "," + gpu(2, watchable),
                                R"("rules": [{"call": "nvmlDeviceRegisterEvents", "device": 1,
                                     "result": "UNKNOWN"}])"));
  read_fault(machine, 0);
  CHECK(get_missing_status(read_fault(machine, 1)) == Status::backend);
  read_fault(machine, 0);
  machine.driver.raise(0, 62);
  CHECK(read_fault(machine, 0).xid == 62);
  CHECK(get_missing_status(read_fault(machine, 1)) == Status::backend);
  CHECK(machine.driver.event_sets() == 1);
}

TEST_CASE("GPU_IS_LOST from the event set does not mark this GPU as lost") {
  Machine machine(one_gpu(watchable, R"("rules": [{"call": "nvmlEventSetWait_v2", "from": 2,
                                             "result": "GPU_IS_LOST"}])"));
  read_fault(machine);
  const FaultReading fault = read_fault(machine);
  CHECK(get_missing_status(fault) == Status::device_lost);
  CHECK(fault.has_temperature);
  CHECK(machine.devices().at(0).state == State::ready);
}

TEST_CASE("the fault of a GPU that falls off the bus is still reported") {
  Machine machine(
      one_gpu(watchable, R"("rules": [{"call": "nvmlDeviceGetUtilizationRates", "from": 2,
                                             "result": "GPU_IS_LOST"}])"));
  read_fault(machine);
  machine.driver.raise(0, 79);
  const FaultReading fault = read_fault(machine);
  CHECK(fault.xid == 79);
  CHECK_FALSE(fault.has_temperature);
}

TEST_CASE("the last fault survives a driver reload, and faults raised while unwatched are lost") {
  Machine machine(one_gpu(watchable));
  read_fault(machine);
  machine.driver.raise(0, 31);
  CHECK(read_fault(machine).xid == 31);
  machine.driver.driver_reload();
  machine.driver.raise(0, 79);
  CHECK(read_fault(machine).xid == 31);
  machine.driver.raise(0, 48);
  CHECK(read_fault(machine).xid == 48);
  CHECK(machine.driver.calls("nvmlDeviceRegisterEvents") == 2);
  CHECK(machine.driver.calls("nvmlEventSetFree") == 0);  // of the session that was ended
  machine.restart();
  CHECK(machine.driver.event_sets() == 0);
  CHECK(machine.driver.initialized() == 0);
}

TEST_CASE("closing ends the watch, and the next reading restarts it") {
  Machine machine(one_gpu(watchable));
  hmn_fake::add_pci_device(
      machine.tree,
      {.address = "0000:01:00.0", .power_control = "auto", .runtime_status = "active"});
  read_fault(machine);
  CHECK(machine.source().finish(machine.reading));
  machine.source().close();
  CHECK(machine.driver.event_sets() == 0);
  CHECK(machine.driver.initialized() == 0);
  machine.driver.raise(0, 79);
  CHECK(get_missing_status(read_fault(machine)) == Status::unsupported);
  machine.driver.raise(0, 31);
  CHECK(read_fault(machine).xid == 31);
  SUBCASE("a sleeping card is neither queried nor woken") {
    machine.source().close();
    machine.tree.write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
    const auto before = machine.driver.calls(nullptr);
    CHECK_FALSE(machine.prepare());
    std::vector<Metric> none;
    const auto result = machine.source().metrics(0, false, none, machine.reading);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::asleep);
    CHECK(none.empty());
    CHECK(machine.driver.calls(nullptr) == before);
  }
}

TEST_CASE("pending faults are collected before NVML is reopened for an added GPU") {
  Machine machine(one_gpu(watchable));
  hmn_fake::add_pci_device(machine.tree, {.address = "0000:01:00.0"});
  read_fault(machine);
  machine.driver.raise(0, 63);
  hmn_fake::add_pci_device(machine.tree, {.address = "0000:02:00.0"});
  for (int i = 0; i < 100 && machine.driver.calls("nvmlShutdown") == 0; ++i) {
    usleep(100'000);  // the bus is scanned once a second
    require_ok(machine.prepare());
  }
  REQUIRE(machine.driver.calls("nvmlShutdown") != 0);
  CHECK(read_fault(machine).xid == 63);
}

TEST_CASE("an expired deadline leaves the watch to the next reading") {
  Machine machine(one_gpu(watchable));
  machine.devices();
  machine.reading.deadline = platform::monotonic_ns();
  std::vector<Metric> none;
  require_ok(machine.prepare());
  require_ok(machine.source().metrics(0, false, none, machine.reading));
  CHECK(none.empty());
  CHECK(machine.driver.calls("nvmlEventSetCreate") == 0);
  machine.reading.deadline = UINT64_MAX;
  read_fault(machine);
  machine.driver.raise(0, 31);
  CHECK(read_fault(machine).xid == 31);
}

TEST_CASE("a forked child leaves the parent's watch alone") {
  Machine machine(one_gpu(watchable));
  read_fault(machine);
  const pid_t child = fork();
  if (child == 0) {
    machine.source().close();
    _exit(machine.driver.calls("nvmlEventSetFree") == 0 ? 0 : 1);
  }
  int wait_status = 0;
  REQUIRE(waitpid(child, &wait_status, 0) == child);
  CHECK(WIFEXITED(wait_status));
  CHECK(WEXITSTATUS(wait_status) == 0);
  machine.driver.raise(0, 31);
  CHECK(read_fault(machine).xid == 31);
}
