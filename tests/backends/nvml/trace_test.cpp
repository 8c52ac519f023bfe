// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"

using namespace hmn;

namespace {

std::vector<Diagnostic> select_traces(const PlainReading& reading) {
  std::vector<Diagnostic> all;
  std::copy_if(reading.diagnostics.begin(), reading.diagnostics.end(), std::back_inserter(all),
               [](const Diagnostic& diagnostic) { return (diagnostic.notes & note::trace) != 0; });
  return all;
}

}  // namespace

TEST_CASE("every driver call of a traced reading is recorded with its time and code") {
  Machine machine(one_gpu(R"("temperature": 45)",
                          R"("rules": [{"call": "nvmlDeviceGetMemoryInfo_v2", "delay_ms": 20}])"));
  machine.reading.trace = true;
  std::vector<Device> devices;
  require_ok(machine.prepare());
  require_ok(machine.list(devices));
  PoolList memory;
  require_ok(machine.source().memory(0, memory, machine.reading));
  hmn::Telemetry telemetry;
  require_ok(machine.source().telemetry(0, telemetry_field::all, telemetry, machine.reading));
  const auto all = select_traces(machine.reading);
  CHECK(all.size() == machine.driver.calls(nullptr));
  CHECK(all.front().failure.message.view() == "nvmlInitWithFlags 2: ok");
  bool slow = false;
  bool refused = false;
  for (const Diagnostic& diagnostic : all) {
    CHECK(diagnostic.failure.source == Source::nvml);
    CHECK(diagnostic.failure.native.domain == NativeDomain::nvml);
    REQUIRE(diagnostic.duration_ns.has_value());
    if (diagnostic.failure.message.view().starts_with("nvmlDeviceGetMemoryInfo_v2: ok, ") &&
        diagnostic.subject == subject::pools) {
      slow = *diagnostic.duration_ns >= 20'000'000 && diagnostic.failure.code == Status::ok &&
             diagnostic.device == 0;
    }
    refused = refused || (diagnostic.failure.native.code == 3 &&
                          diagnostic.failure.code == Status::unsupported);
  }
  CHECK(slow);
  CHECK(refused);
}

namespace {

// A machine on which every call succeeds.
constexpr const char* all_values = R"("utilization": {"gpu": 64, "memory": 12},
  "encoder": {"percent": 7, "period_us": 1000}, "decoder": 9, "temperature": 45,
  "power_usage_mw": 58980, "enforced_power_limit_mw": 350000, "energy_mj": 12345678901,
  "clocks_mhz": {"graphics": 2520, "sm": 2510, "memory": 9001, "video": 1965}, "fans": 31,
  "pstate": 2, "pcie": {"gen": 4, "width": 16, "replays": 5}, "clocks_event_reasons": 4,
  "fields": {"82": 61, "91": 0}, "remapped_rows": {"corrected": 1, "failed": 2},
  "ecc_errors": {"corrected_volatile": 3}, "c2c": true, "addressing_mode": "ats",
  "power_limits_mw": {"min": 100000, "max": 450000}, "event_types": 8, "xids": [79],
  "processes": {"compute": [{"pid": 4242, "used": 4096, "gi": 1, "ci": 2}]},
  "process_utilization": [{"pid": 4242, "sm": 33}],
  "accounts": [{"pid": 4242, "most": 8192, "start_us": 77, "running": true}])";

// Expected trace of each call: its beginning, and a part of its values.
constexpr std::pair<const char*, const char*> all_traces[] = {
    {"nvmlDeviceGetCount_v2: ok, 1", ""},
    {"nvmlDeviceGetHandleByIndex_v2 0: ok, 0x", ""},
    {"nvmlDeviceGetName 96: ok, ", "\"NVIDIA Fake 1\""},
    {"nvmlDeviceGetUUID 96: ok, ", "\"GPU-00000001-1111-2222-3333-444444444444\""},
    {"nvmlDeviceGetPciInfo_v3: ok, ",
     "bus_id_legacy=\"0000:01:00.0\", domain=0, bus=1, device=0, device_id=649662686, "
     "subsystem_id=407965918, bus_id=\"00000000:01:00.0\""},
    {"nvmlDeviceGetCudaComputeCapability: ok, ", "8, 9"},
    {"nvmlDeviceGetC2cModeInfoV: ok, ", "enabled=1"},
    {"nvmlDeviceGetAddressingMode: ok, ", "mode=2"},
    {"nvmlDeviceGetBAR1MemoryInfo: ok, ", "total=268435456, free=267386880, used=1048576"},
    {"nvmlDeviceGetMemoryInfo_v2: ok, ",
     "total=17179869184, reserved=536870912, free=12884901888, used=3758096384"},
    {"nvmlDeviceGetUtilizationRates: ok, ", "gpu=64, memory=12"},
    {"nvmlDeviceGetEncoderUtilization: ok, ", "7, 1000"},
    {"nvmlDeviceGetTemperatureV: ok, ", "celsius=45"},
    {"nvmlDeviceGetPowerUsage: ok, ", "58980"},
    {"nvmlDeviceGetTotalEnergyConsumption: ok, ", "12345678901"},
    {"nvmlDeviceGetClockInfo 2: ok, ", "9001"},
    {"nvmlDeviceGetFanSpeed_v2 0: ok, ", "31"},
    {"nvmlDeviceGetTotalEccErrors 0 0: ok, ", "3"},
    {"nvmlDeviceGetRemappedRows: ok, ", "1, 0, 0, 2"},
    {"nvmlDeviceGetFieldValues 1: ok, ", "field=82, type=1, result=0, value=61"},
    {"nvmlEventSetWait_v2 0: ok, ", "type=8, data=79"},
    {"nvmlDeviceGetComputeRunningProcesses_v3: ok, 1, ",
     "words=0x1092, 0x0, 0x1000, 0x0, 0x1, 0x2"},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3: ok, ", "0"},
    {"nvmlDeviceGetProcessUtilization ", ", pid=4242, time="},
    {"nvmlDeviceGetAccountingStats 4242: ok, ",
     "gpu=12, memory=12, max_memory=8192, time=0, start=77, is_running=1"},
    {"nvmlDeviceGetFanSpeed: ", "31"},
};

}  // namespace

TEST_CASE("a traced call has the raw values that it returned") {
  Machine machine(one_gpu(all_values));
  machine.reading.trace = true;
  std::vector<Device> devices;
  std::vector<Usage> rows;
  std::vector<Metric> metrics;
  PoolList memory;
  hmn::Telemetry telemetry;
  require_ok(machine.prepare());
  require_ok(machine.list(devices));
  require_ok(machine.source().memory(0, memory, machine.reading));
  require_ok(machine.source().telemetry(0, telemetry_field::all, telemetry, machine.reading));
  require_ok(machine.source().processes(0, rows, machine.reading));
  require_ok(machine.source().metrics(0, true, metrics, machine.reading));
  for (const auto& [call, values] : all_traces) {
    CAPTURE(std::string(call));
    CAPTURE(std::string(values));
    bool is_traced = false;
    for (const Diagnostic& diagnostic : select_traces(machine.reading)) {
      const auto text = diagnostic.failure.message.view();
      is_traced = is_traced || (text.starts_with(call) && text.find(values) != text.npos);
    }
    CHECK(is_traced);
  }
}

TEST_CASE("a traced call that fails has the driver's code") {
  for (const int code : {3, 15, 999, 1000, -1, -2147483647, 2147483647}) {
    CAPTURE(code);
    Machine machine(
        one_gpu(R"("results": {"nvmlDeviceGetPowerUsage": )" + std::to_string(code) + "}"));
    machine.reading.trace = true;
    hmn::Telemetry telemetry;
    std::vector<Device> devices;
    require_ok(machine.prepare());
    require_ok(machine.list(devices));
    CHECK_FALSE(
        machine.source().telemetry(0, telemetry_field::power_watts, telemetry, machine.reading));
    bool is_traced = false;
    for (const Diagnostic& diagnostic : select_traces(machine.reading)) {
      if (!diagnostic.failure.message.view().starts_with("nvmlDeviceGetPowerUsage: ")) continue;
      is_traced = true;
      CHECK(diagnostic.failure.native.domain == NativeDomain::nvml);
      CHECK(diagnostic.failure.native.code == code);
      CHECK(
          diagnostic.failure.message.view().ends_with("(NVML code " + std::to_string(code) + ")"));
      CHECK((diagnostic.failure.code == Status::timeout) == false);
    }
    CHECK(is_traced);
  }
}

TEST_CASE("nothing is recorded unless tracing is requested") {
  Machine machine(one_gpu());
  machine.devices();
  machine.pool();
  CHECK(machine.reading.diagnostics.empty());
}
