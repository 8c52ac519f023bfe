// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <thread>

#include "machine.hpp"
#include "model/record.hpp"

using namespace hmn;

namespace {

std::string instance(int gi, int ci, const char* more = "") {
  const std::string name = std::to_string(gi) + "-" + std::to_string(ci);
  return R"({"name": "NVIDIA A100 MIG 1g.5gb", "uuid": "MIG-)" + name + R"(", "gi": )" +
         std::to_string(gi) + R"(, "ci": )" + std::to_string(ci) +
         R"(, "memory_v2": {"total": "5 GiB", "reserved": "64 MiB", "free": "4 GiB",
             "used": "960 MiB"}, "utilization": {"gpu": 50, "memory": 1})" +
         more + "}";
}

std::string partitioned(const std::string& instances, const char* more = "") {
  return gpu(1, R"("processes": {"compute": [{"pid": 100, "used": "1 GiB"}]}, "mig": {"mode": 1,
             "max": 7, "instances": [)" +
                    instances + "]}" + more);
}

const std::string two_instances =
    make_scenario(partitioned(instance(1, 0, R"(, "processes": {"compute": [
                  {"pid": 100, "used": "512 MiB", "gi": 1, "ci": 0},
                  {"pid": 200, "used": "128 MiB", "gi": 1, "ci": 0},
                  {"pid": 200, "used": "64 MiB", "gi": 1, "ci": 1}]})") +
                              "," + instance(2, 0, R"(, "processes": {"compute": [
                  {"pid": 100, "used": "256 MiB", "gi": 2, "ci": 0}]})")) +
                  "," + gpu(2));

}  // namespace

TEST_CASE("a GPU without MIG is checked again after a second") {
  const auto make_mig_scenario = [](unsigned mode) {
    return make_scenario(gpu(1, R"("mig": {"mode": )" + std::to_string(mode) +
                                    R"(, "max": 7, "instances": [)" + instance(1, 0) + "]}"));
  };
  Machine machine(make_mig_scenario(0));
  const std::uint64_t start_ns = platform::monotonic_ns();
  CHECK(machine.devices().size() == 1);
  CHECK(machine.devices().size() == 1);
  const auto mig_calls = machine.driver.calls("nvmlDeviceGetMigMode");
  if (platform::monotonic_ns() - start_ns < platform::ns_per_second) CHECK(mig_calls == 1);
  machine.driver.load(make_mig_scenario(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  CHECK(machine.devices().size() == 2);
  CHECK(machine.devices().size() == 2);
  CHECK(machine.driver.calls("nvmlDeviceGetMigMode") >= 2);
}

TEST_CASE("MIG instances are listed after their GPU, as devices") {
  Machine machine(two_instances);
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 4);
  CHECK(devices[0].form == DeviceForm::discrete);
  for (const std::size_t i : {1, 2}) {
    CHECK(devices[i].is_partition);
    CHECK(devices[i].parent == devices[0].slot);
    CHECK(devices[i].name.view() == "NVIDIA A100 MIG 1g.5gb");
    CHECK(devices[i].state == State::ready);
    CHECK(devices[i].memory_kind == MemoryKind::dedicated);
    CHECK(devices[i].driver_version.view() == "550.163.01");
    CHECK(devices[i].pci_bus_id.empty());
    CHECK(!devices[i].driver_index);
    REQUIRE(devices[i].instance.has_value());
    CHECK(devices[i].instance->gpu == i);
    CHECK(devices[i].instance->compute == 0);
  }
  CHECK(devices[1].uuid.view() == "MIG-1-0");
  CHECK(devices[3].uuid.view() == make_uuid(2));
  CHECK(machine.reading.find_diagnostics().empty());
}

TEST_CASE("an instance has its own memory") {
  Machine machine(two_instances);
  const auto devices = machine.devices();
  const Pool pool = machine.pool(devices[1].slot);
  CHECK(pool.kind == PoolKind::vram);
  CHECK(pool.total == 5 * gib);
  CHECK(pool.used == 960 * mib);
}

TEST_CASE("a process is listed under each instance that it uses, never under the GPU") {
  Machine machine(two_instances);
  const auto devices = machine.devices();
  CHECK(machine.processes(devices[0].slot).empty());
  const auto first = machine.processes(devices[1].slot);
  REQUIRE(first.size() == 2);
  CHECK(first[0].pid == 100);
  CHECK(first[0].used == 512 * mib);
  REQUIRE(first[0].instance.has_value());
  CHECK(first[0].instance->gpu == 1);
  CHECK(first[1].pid == 200);
  CHECK(first[1].used == 192 * mib);
  const auto second = machine.processes(devices[2].slot);
  REQUIRE(second.size() == 1);
  CHECK(second[0].used == 256 * mib);
}

TEST_CASE("own use of a partitioned GPU is unsupported, and the reason names MIG") {
  Machine machine(make_scenario(partitioned(instance(1, 0, R"(, "processes":
                {"compute": [{"pid": "self", "used": 77, "gi": 1, "ci": 0}]})"))));
  const auto devices = machine.devices();
  Usage usage;
  const auto gpu_own = machine.process(devices[0].slot, 7, true, usage);
  REQUIRE_FALSE(gpu_own);
  CHECK(gpu_own.failure().code == Status::unsupported);
  CHECK(gpu_own.failure().message.view().find("MIG") != std::string::npos);
  CHECK(!usage.used);
}

// Functions that nvml.h documents for the handle of a MIG instance.
constexpr std::string_view documented[] = {
    "nvmlDeviceGetName",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetGpuInstanceId",
    "nvmlDeviceGetComputeInstanceId",
    "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetBAR1MemoryInfo",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetMPSComputeRunningProcesses_v3",
};

// Whether a diagnostic of the device refers to the whole GPU, for the field or the metric.
bool refers_to_whole(const PlainReading& reading, Slot device, std::uint32_t reported_subject,
                     std::uint64_t field) {
  return std::ranges::any_of(
      reading.find_diagnostics(reported_subject), [&](const Diagnostic& diagnostic) {
        const bool matches_field = reported_subject == subject::metrics
                                       ? diagnostic.field == field
                                       : (diagnostic.field & field) == field;
        return diagnostic.device == device && matches_field &&
               diagnostic.failure.code == Status::unsupported && diagnostic.failure.is_permanent &&
               diagnostic.failure.message.view().find("whole GPU") != std::string_view::npos;
      });
}

TEST_CASE("an instance has no values of the whole GPU, even if the driver returns them") {
  Machine machine(make_scenario(
      gpu(1, every_value + (R"(, "processes": {"compute": [{"pid": 100, "used": "1 GiB"}]},
          "process_utilization": [{"pid": 100, "age_ms": 10, "sm": 50}],
          "accounts": [{"pid": 100, "most": "2 GiB", "running": true}],
          "mig": {"mode": 1, "as_gpu": true, "instances": [)" +
                            instance(1, 0) + "]}"))));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  const Slot whole = devices[0].slot;
  const Slot part = devices[1].slot;

  const FieldSet present = present_bits(machine.telemetry(whole), telemetry_field::all);
  std::vector<Metric> whole_metrics;
  require_ok(machine.source().metrics(whole, true, whole_metrics, machine.reading));
  CHECK(whole_metrics.size() > 40);
  for (const bool quick : {false, true}) {
    require_ok(machine.prepare());
    machine.reading.quick = quick;
    hmn::Telemetry none;
    const auto result =
        machine.source().telemetry(part, telemetry_field::all, none, machine.reading);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::unsupported);
    CHECK(present_bits(none, telemetry_field::all) == 0);
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
      CAPTURE(bit);
      if ((present & bit) != 0)
        CHECK(refers_to_whole(machine.reading, part, subject::telemetry, bit));
    }
    std::vector<Metric> part_metrics;
    require_ok(machine.source().metrics(part, true, part_metrics, machine.reading));
    CHECK(part_metrics.empty());
    for (const Metric& metric : whole_metrics) {
      CAPTURE(static_cast<std::uint32_t>(metric.id));
      const auto is_explained = [&](std::uint64_t metric_field) {
        return refers_to_whole(machine.reading, part, subject::metrics, metric_field);
      };
      CHECK((is_explained(missing_metric(metric.id, metric.instance)) ||
             is_explained(missing_metric(metric.id))));
    }
  }

  const auto rows = machine.processes(part);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == gib);
  CHECK(!rows[0].busy_percent);
  CHECK(!rows[0].peak_used);
  CHECK(refers_to_whole(machine.reading, part, subject::processes, usage_field::busy_percent));
}

TEST_CASE("an instance's handle is passed only to functions that support instances") {
  Machine machine(make_scenario(
      gpu(1, every_value + (R"(, "processes": {"compute": [{"pid": 100, "used": "1 GiB"}]},
                 "mig": {"mode": 1, "as_gpu": true, "instances": [)" +
                            instance(1, 0) + "]}"))));
  const Slot part = machine.devices().at(1).slot;
  require_ok(machine.prepare());
  machine.reading.trace = true;
  PoolList pools;
  std::vector<Metric> none;
  std::vector<Usage> rows;
  hmn::Telemetry nothing;
  require_ok(machine.source().memory(part, pools, machine.reading));
  REQUIRE_FALSE(machine.source().telemetry(part, telemetry_field::all, nothing, machine.reading));
  require_ok(machine.source().metrics(part, true, none, machine.reading));
  require_ok(machine.source().processes(part, rows, machine.reading));
  std::size_t traced = 0;
  for (const Diagnostic& diagnostic : machine.reading.diagnostics) {
    if (diagnostic.device != part || (diagnostic.notes & note::trace) == 0) continue;
    ++traced;
    const std::string_view text = diagnostic.failure.message.view();
    CAPTURE(text);
    CHECK(std::ranges::find(documented, text.substr(0, text.find(':'))) != std::end(documented));
  }
  CHECK(traced >= 4);
}

TEST_CASE("re-created instances are new devices, and old handles are not reused") {
  Machine machine(make_scenario(partitioned(instance(1, 0) + "," + instance(2, 0))));
  const auto before = machine.devices();
  REQUIRE(before.size() == 3);
  machine.driver.load(make_scenario(partitioned(instance(3, 0) + "," + instance(1, 0))));
  const auto after = machine.devices();
  REQUIRE(after.size() == 3);
  CHECK(after[1].uuid.view() == "MIG-3-0");
  CHECK(after[1].slot == 3);
  CHECK(after[2].slot == before[1].slot);
  PoolList none;
  const auto result = machine.memory(before[2].slot, none);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::device_lost);
}

TEST_CASE("a GPU with MIG switched off is listed and read as a whole") {
  Machine machine(make_scenario(gpu(1, R"("processes": {"compute": [{"pid": 100, "used": 1}]},
                                 "mig": {"mode": 0, "pending": 1, "max": 7, "instances": []})")));
  CHECK(machine.devices().size() == 1);
  CHECK(machine.processes().size() == 1);
  CHECK(machine.driver.calls("nvmlDeviceGetMaxMigDeviceCount") == 0);
}

TEST_CASE("instances are readable when the memory of the whole GPU is not permitted") {
  Machine machine(make_scenario(partitioned(instance(1, 0), R"(, "results":
                {"nvmlDeviceGetMemoryInfo*": "NO_PERMISSION"})")));
  const auto devices = machine.devices();
  REQUIRE(devices.size() == 2);
  CHECK(devices[1].memory_kind == MemoryKind::dedicated);
  PoolList none;
  const auto whole = machine.memory(devices[0].slot, none);
  REQUIRE_FALSE(whole);
  CHECK(whole.failure().code == Status::permission);
  CHECK(machine.pool(devices[1].slot).total == 5 * gib);
}

TEST_CASE("a partitioned GPU without memory values is not taken for a unified GPU") {
  Machine machine(make_scenario(partitioned(instance(1, 0), R"(, "results":
                {"nvmlDeviceGetMemoryInfo*": "NOT_SUPPORTED"})")));
  PoolList none;
  const auto result = machine.memory(machine.devices().at(0).slot, none);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
}

TEST_CASE("an instance that this user may not see does not hide the others") {
  Machine machine(
      make_scenario(partitioned(instance(1, 0) + "," + instance(2, 0)),
                    R"("rules": [{"call": "nvmlDeviceGetMigDeviceHandleByIndex", "from": 2,
                                     "times": 1, "result": "NO_PERMISSION"}])"));
  const auto devices = machine.devices();
  CHECK(devices.size() == 2);
  const auto diagnostics = machine.reading.find_diagnostics(subject::devices);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].failure.code == Status::permission);
  CHECK(diagnostics[0].device == devices[0].slot);
}
