// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"

using namespace hmn;

namespace {

std::vector<Diagnostic> traces(const PlainReading& r) {
  std::vector<Diagnostic> all;
  std::copy_if(r.diagnostics.begin(), r.diagnostics.end(), std::back_inserter(all),
               [](const Diagnostic& d) { return (d.notes & note::trace) != 0; });
  return all;
}

}  // namespace

TEST_CASE("each driver call of a traced reading is recorded with its time and code") {
  Machine m(one_gpu(R"("temperature": 45)",
                    R"("rules": [{"call": "nvmlDeviceGetMemoryInfo_v2", "delay_ms": 20}])"));
  m.reading.trace = true;
  std::vector<Device> found;
  require_ok(m.prepare());
  require_ok(m.list(found));
  Pools memory;
  require_ok(m.source().memory(0, memory, m.reading));
  hmn::Telemetry t;
  require_ok(m.source().telemetry(0, telemetry_field::all, t, m.reading));
  const auto all = traces(m.reading);
  CHECK(all.size() == m.driver.calls(nullptr));
  CHECK(all.front().why.message.view() == "nvmlInitWithFlags 2: ok");
  bool slow = false;
  bool refused = false;
  for (const Diagnostic& d : all) {
    CHECK(d.why.from == Source::nvml);
    CHECK(d.why.native.domain == NativeDomain::nvml);
    REQUIRE(d.duration_ns.has_value());
    if (d.why.message.view().starts_with("nvmlDeviceGetMemoryInfo_v2: ok, ") &&
        d.about == subject::pools) {
      slow = *d.duration_ns >= 20'000'000 && d.why.code == Status::ok && d.device == 0;
    }
    refused = refused || (d.why.native.code == 3 && d.why.code == Status::unsupported);
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

// What each call is traced with, from where its values begin; hexadecimal where they are addresses.
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
  Machine m(one_gpu(all_values));
  m.reading.trace = true;
  std::vector<Device> found_devices;
  std::vector<Usage> rows;
  std::vector<Metric> numbers;
  Pools memory;
  hmn::Telemetry t;
  require_ok(m.prepare());
  require_ok(m.list(found_devices));
  require_ok(m.source().memory(0, memory, m.reading));
  require_ok(m.source().telemetry(0, telemetry_field::all, t, m.reading));
  require_ok(m.source().processes(0, rows, m.reading));
  require_ok(m.source().metrics(0, true, numbers, m.reading));
  for (const auto& [call, its_values] : all_traces) {
    CAPTURE(std::string(call));
    CAPTURE(std::string(its_values));
    bool found = false;
    for (const Diagnostic& d : traces(m.reading)) {
      const auto text = d.why.message.view();
      found = found || (text.starts_with(call) && text.find(its_values) != text.npos);
    }
    CHECK(found);
  }
}

TEST_CASE("a traced call that fails has the driver's code, and no value") {
  for (const int returned : {3, 15, 999, 1000, -1, -2147483647, 2147483647}) {
    CAPTURE(returned);
    Machine m(
        one_gpu(R"("results": {"nvmlDeviceGetPowerUsage": )" + std::to_string(returned) + "}"));
    m.reading.trace = true;
    hmn::Telemetry t;
    std::vector<Device> found_devices;
    require_ok(m.prepare());
    require_ok(m.list(found_devices));
    CHECK_FALSE(m.source().telemetry(0, telemetry_field::power_watts, t, m.reading));
    bool found = false;
    for (const Diagnostic& d : traces(m.reading)) {
      if (!d.why.message.view().starts_with("nvmlDeviceGetPowerUsage: ")) continue;
      found = true;
      CHECK(d.why.native.domain == NativeDomain::nvml);
      CHECK(d.why.native.code == returned);
      CHECK(d.why.message.view().ends_with("(NVML code " + std::to_string(returned) + ")"));
      CHECK((d.why.code == Status::timeout) == false);
    }
    CHECK(found);
  }
}

TEST_CASE("nothing is recorded unless it is wanted") {
  Machine m(one_gpu());
  m.devices();
  m.pool();
  CHECK(m.reading.diagnostics.empty());
}
