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
    machine_of(partitioned(instance(1, 0, R"(, "processes": {"compute": [
                  {"pid": 100, "used": "512 MiB", "gi": 1, "ci": 0},
                  {"pid": 200, "used": "128 MiB", "gi": 1, "ci": 0},
                  {"pid": 200, "used": "64 MiB", "gi": 1, "ci": 1}]})") +
                           "," + instance(2, 0, R"(, "processes": {"compute": [
                  {"pid": 100, "used": "256 MiB", "gi": 2, "ci": 0}]})")) +
               "," + gpu(2));

}  // namespace

TEST_CASE("a GPU that was not divided is asked again after a second") {
  const auto divided = [](unsigned mode) {
    return machine_of(gpu(1, R"("mig": {"mode": )" + std::to_string(mode) +
                                 R"(, "max": 7, "instances": [)" + instance(1, 0) + "]}"));
  };
  Machine m(divided(0));
  const std::uint64_t begun = platform::monotonic_ns();
  CHECK(m.devices().size() == 1);
  CHECK(m.devices().size() == 1);
  const auto asked = m.driver.calls("nvmlDeviceGetMigMode");
  if (platform::monotonic_ns() - begun < platform::ns_per_second) CHECK(asked == 1);
  m.driver.load(divided(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  CHECK(m.devices().size() == 2);
  CHECK(m.devices().size() == 2);
  CHECK(m.driver.calls("nvmlDeviceGetMigMode") >= 2);
}

TEST_CASE("instances follow their GPU as devices of their own") {
  Machine m(two_instances);
  const auto found = m.devices();
  REQUIRE(found.size() == 4);
  CHECK(found[0].form == DeviceForm::discrete);
  for (const std::size_t i : {1, 2}) {
    CHECK(found[i].is_part);
    CHECK(found[i].parent == found[0].number);
    CHECK(found[i].name.view() == "NVIDIA A100 MIG 1g.5gb");
    CHECK(found[i].state == State::ready);
    CHECK(found[i].memory_kind == MemoryKind::dedicated);
    CHECK(found[i].driver_version.view() == "550.163.01");
    CHECK(found[i].pci_bus_id.empty());
    CHECK(!found[i].driver_index);
    REQUIRE(found[i].instance.has_value());
    CHECK(found[i].instance->gpu == i);
    CHECK(found[i].instance->compute == 0);
  }
  CHECK(found[1].uuid.view() == "MIG-1-0");
  CHECK(found[3].uuid.view() == uuid_of(2));
  CHECK(m.reading.about().empty());
}

TEST_CASE("an instance has its own memory") {
  Machine m(two_instances);
  const auto found = m.devices();
  const Pool p = m.pool(found[1].number);
  CHECK(p.kind == PoolKind::vram);
  CHECK(p.total == 5 * gib);
  CHECK(p.used == 960 * mib);
}

TEST_CASE("a process stands under each instance it uses, and never under the GPU") {
  Machine m(two_instances);
  const auto found = m.devices();
  CHECK(m.processes(found[0].number).empty());
  const auto first = m.processes(found[1].number);
  REQUIRE(first.size() == 2);
  CHECK(first[0].pid == 100);
  CHECK(first[0].used == 512 * mib);
  REQUIRE(first[0].instance.has_value());
  CHECK(first[0].instance->gpu == 1);
  CHECK(first[1].pid == 200);
  CHECK(first[1].used == 192 * mib);
  const auto second = m.processes(found[2].number);
  REQUIRE(second.size() == 1);
  CHECK(second[0].used == 256 * mib);
}

TEST_CASE("the own use of a partitioned GPU stands under its instances") {
  Machine m(machine_of(partitioned(instance(1, 0, R"(, "processes":
                {"compute": [{"pid": "self", "used": 77, "gi": 1, "ci": 0}]})"))));
  const auto found = m.devices();
  Usage out;
  const auto gpu_own = m.process(found[0].number, 7, true, out);
  REQUIRE_FALSE(gpu_own);
  CHECK(gpu_own.why().code == Status::unsupported);
  CHECK(gpu_own.why().message.view().find("MIG") != std::string::npos);
  CHECK(!out.used);
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
bool refers_to_whole(const PlainReading& r, Slot of, std::uint32_t about, std::uint64_t field) {
  return std::ranges::any_of(r.about(about), [&](const Diagnostic& d) {
    const bool is_of_field =
        about == subject::metrics ? d.field == field : (d.field & field) == field;
    return d.device == of && is_of_field && d.why.code == Status::unsupported && d.why.lasts &&
           d.why.message.view().find("whole GPU") != std::string_view::npos;
  });
}

TEST_CASE("no value of the whole GPU is given to an instance, though the driver returns it") {
  Machine m(machine_of(
      gpu(1, every_value + (R"(, "processes": {"compute": [{"pid": 100, "used": "1 GiB"}]},
          "process_utilization": [{"pid": 100, "age_ms": 10, "sm": 50}],
          "accounts": [{"pid": 100, "most": "2 GiB", "running": true}],
          "mig": {"mode": 1, "as_gpu": true, "instances": [)" +
                            instance(1, 0) + "]}"))));
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  const Slot whole = found[0].number;
  const Slot part = found[1].number;

  const FieldSet present = present_bits(m.telemetry(whole), telemetry_field::all);
  std::vector<Metric> of_whole;
  require_ok(m.source().metrics(whole, true, of_whole, m.reading));
  CHECK(of_whole.size() > 40);
  for (const bool quick : {false, true}) {
    require_ok(m.prepare());
    m.reading.quick = quick;
    hmn::Telemetry none;
    const auto done = m.source().telemetry(part, telemetry_field::all, none, m.reading);
    REQUIRE_FALSE(done);
    CHECK(done.why().code == Status::unsupported);
    CHECK(present_bits(none, telemetry_field::all) == 0);
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
      CAPTURE(bit);
      if ((present & bit) != 0) CHECK(refers_to_whole(m.reading, part, subject::telemetry, bit));
    }
    std::vector<Metric> of_part;
    require_ok(m.source().metrics(part, true, of_part, m.reading));
    CHECK(of_part.empty());
    for (const Metric& each : of_whole) {
      CAPTURE(static_cast<std::uint32_t>(each.id));
      const auto is_of = [&](std::uint64_t metric) {
        return refers_to_whole(m.reading, part, subject::metrics, metric);
      };
      CHECK((is_of(missing_metric(each.id, each.instance)) || is_of(missing_metric(each.id))));
    }
  }

  const auto rows = m.processes(part);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == gib);
  CHECK(!rows[0].busy_percent);
  CHECK(!rows[0].peak_used);
  CHECK(refers_to_whole(m.reading, part, subject::processes, usage_field::busy_percent));
}

TEST_CASE("an instance's handle is given to no function that has no value of instances") {
  Machine m(machine_of(
      gpu(1, every_value + (R"(, "processes": {"compute": [{"pid": 100, "used": "1 GiB"}]},
                 "mig": {"mode": 1, "as_gpu": true, "instances": [)" +
                            instance(1, 0) + "]}"))));
  const Slot part = m.devices().at(1).number;
  require_ok(m.prepare());
  m.reading.trace = true;
  Pools some;
  std::vector<Metric> none;
  std::vector<Usage> rows;
  hmn::Telemetry nothing;
  require_ok(m.source().memory(part, some, m.reading));
  REQUIRE_FALSE(m.source().telemetry(part, telemetry_field::all, nothing, m.reading));
  require_ok(m.source().metrics(part, true, none, m.reading));
  require_ok(m.source().processes(part, rows, m.reading));
  std::size_t traced = 0;
  for (const Diagnostic& d : m.reading.diagnostics) {
    if (d.device != part || (d.notes & note::trace) == 0) continue;
    ++traced;
    const std::string_view text = d.why.message.view();
    CAPTURE(text);
    CHECK(std::ranges::find(documented, text.substr(0, text.find(':'))) != std::end(documented));
  }
  CHECK(traced >= 4);
}

TEST_CASE("instances that are made anew are other devices, and handles are not trusted") {
  Machine m(machine_of(partitioned(instance(1, 0) + "," + instance(2, 0))));
  const auto before = m.devices();
  REQUIRE(before.size() == 3);
  m.driver.load(machine_of(partitioned(instance(3, 0) + "," + instance(1, 0))));
  const auto after = m.devices();
  REQUIRE(after.size() == 3);
  CHECK(after[1].uuid.view() == "MIG-3-0");
  CHECK(after[1].number == 3);
  CHECK(after[2].number == before[1].number);
  Pools none;
  const auto gone = m.memory(before[2].number, none);
  REQUIRE_FALSE(gone);
  CHECK(gone.why().code == Status::device_lost);
}

TEST_CASE("MIG that is switched off leaves the GPU alone") {
  Machine m(machine_of(gpu(1, R"("processes": {"compute": [{"pid": 100, "used": 1}]},
                                 "mig": {"mode": 0, "pending": 1, "max": 7, "instances": []})")));
  CHECK(m.devices().size() == 1);
  CHECK(m.processes().size() == 1);
  CHECK(m.driver.calls("nvmlDeviceGetMaxMigDeviceCount") == 0);
}

TEST_CASE("a GPU whose whole memory is not for this user still has its instances'") {
  Machine m(machine_of(partitioned(instance(1, 0), R"(, "results":
                {"nvmlDeviceGetMemoryInfo*": "NO_PERMISSION"})")));
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  CHECK(found[1].memory_kind == MemoryKind::dedicated);
  Pools none;
  const auto whole = m.memory(found[0].number, none);
  REQUIRE_FALSE(whole);
  CHECK(whole.why().code == Status::permission);
  CHECK(m.pool(found[1].number).total == 5 * gib);
}

TEST_CASE("a partitioned GPU without figures is not taken for one that shares the host's RAM") {
  Machine m(machine_of(partitioned(instance(1, 0), R"(, "results":
                {"nvmlDeviceGetMemoryInfo*": "NOT_SUPPORTED"})")));
  Pools none;
  const auto done = m.memory(m.devices().at(0).number, none);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::unsupported);
}

TEST_CASE("an instance that this user may not see costs itself alone") {
  Machine m(machine_of(partitioned(instance(1, 0) + "," + instance(2, 0)),
                       R"("rules": [{"call": "nvmlDeviceGetMigDeviceHandleByIndex", "from": 2,
                                     "times": 1, "result": "NO_PERMISSION"}])"));
  const auto found = m.devices();
  CHECK(found.size() == 2);
  const auto said = m.reading.about(subject::devices);
  REQUIRE(said.size() == 1);
  CHECK(said[0].why.code == Status::permission);
  CHECK(said[0].device == found[0].number);
}
