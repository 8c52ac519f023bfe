// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every return code of NVML, from every call.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "backends/nvml/call.hpp"
#include "machine.hpp"

using namespace hmn;

namespace {

constexpr std::array codes{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                           17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 999};

// Calls fn with each code, or with every fourth one, starting at a different one per call.
template <class Function>
void for_each_code(std::size_t call, Function fn) {
  const std::size_t step = HMN_TEST_SLOW != 0 ? 4 : 1;
  for (std::size_t i = call % step; i < codes.size(); i += step) fn(codes[i]);
}

constexpr std::array calls{"nvmlInitWithFlags",
                           "nvmlInit_v2",
                           "nvmlShutdown",
                           "nvmlSystemGetDriverVersion",
                           "nvmlSystemGetCudaDriverVersion_v2",
                           "nvmlSystemGetCudaDriverVersion",
                           "nvmlDeviceGetCount_v2",
                           "nvmlDeviceGetHandleByIndex_v2",
                           "nvmlDeviceGetName",
                           "nvmlDeviceGetUUID",
                           "nvmlDeviceGetPciInfo_v3",
                           "nvmlDeviceGetVirtualizationMode",
                           "nvmlDeviceGetMemoryInfo_v2",
                           "nvmlDeviceGetMemoryInfo",
                           "nvmlDeviceGetBAR1MemoryInfo",
                           "nvmlDeviceGetNumaNodeId",
                           "nvmlDeviceGetC2cModeInfoV",
                           "nvmlDeviceGetAddressingMode",
                           "nvmlDeviceGetComputeRunningProcesses_v3",
                           "nvmlDeviceGetMPSComputeRunningProcesses_v3",
                           "nvmlDeviceGetGraphicsRunningProcesses_v3",
                           "nvmlDeviceGetMigMode",
                           "nvmlDeviceGetMaxMigDeviceCount",
                           "nvmlDeviceGetMigDeviceHandleByIndex",
                           "nvmlDeviceGetGpuInstanceId",
                           "nvmlDeviceGetComputeInstanceId",
                           "nvmlDeviceGetUtilizationRates",
                           "nvmlDeviceGetEncoderUtilization",
                           "nvmlDeviceGetDecoderUtilization",
                           "nvmlDeviceGetTemperatureV",
                           "nvmlDeviceGetTemperature",
                           "nvmlDeviceGetPowerUsage",
                           "nvmlDeviceGetEnforcedPowerLimit",
                           "nvmlDeviceGetTotalEnergyConsumption",
                           "nvmlDeviceGetClockInfo",
                           "nvmlDeviceGetFanSpeed",
                           "nvmlDeviceGetCurrPcieLinkGeneration",
                           "nvmlDeviceGetCurrPcieLinkWidth",
                           "nvmlDeviceGetPerformanceState",
                           "nvmlDeviceGetCurrentClocksEventReasons",
                           "nvmlDeviceGetFieldValues",
                           "nvmlDeviceGetMaxClockInfo",
                           "nvmlDeviceGetTemperatureThreshold",
                           "nvmlDeviceGetPowerManagementDefaultLimit",
                           "nvmlDeviceGetPowerManagementLimitConstraints",
                           "nvmlDeviceGetPcieReplayCounter",
                           "nvmlDeviceGetTotalEccErrors",
                           "nvmlDeviceGetRemappedRows",
                           "nvmlDeviceGetProcessUtilization",
                           "nvmlDeviceGetNumFans",
                           "nvmlDeviceGetFanSpeed_v2",
                           "nvmlDeviceGetSupportedEventTypes",
                           "nvmlDeviceRegisterEvents",
                           "nvmlEventSetCreate",
                           "nvmlEventSetWait_v2",
                           "nvmlEventSetFree"};

// A complete card, a partitioned one, and one without errors.
std::string make_code_scenario(const char* call, int code) {
  constexpr const char* full = R"("utilization": {"gpu": 64, "memory": 12}, "encoder": 7,
    "decoder": 9, "temperature": 45, "power_usage_mw": 58980, "enforced_power_limit_mw": 350000,
    "energy_mj": 1000, "clocks_mhz": {"graphics": 2520, "memory": 9001}, "fans": 31, "pstate": 2,
    "pcie": {"gen": 4, "width": 16, "replays": 5}, "clocks_event_reasons": 4, "fields": {"82": 61},
    "event_types": 8, "xids": [31, 79], "max_clocks_mhz": {"graphics": 3105},
    "temperature_thresholds": {"shutdown": 97}, "default_power_limit_mw": 400000,
    "power_limits_mw": {"min": 100000, "max": 450000}, "ecc_errors": {"corrected_volatile": 1},
    "remapped_rows": {"corrected": 1, "uncorrected": 2},
    "processes": {"compute": [{"pid": "self", "used": "1 GiB"}, {"pid": 7, "used": 5}],
                  "graphics": [{"pid": 8, "used": 5}], "mps": []})";
  constexpr const char* split = R"("mig": {"mode": 1, "max": 2, "instances": [{"name": "MIG",
    "uuid": "MIG-1", "memory_v2": {"total": 100, "free": 90, "used": 10},
    "processes": {"compute": []}}]})";
  return make_scenario(gpu(1, full) + "," + gpu(2, split) + "," + gpu(3, full),
                       R"("rules": [{"call": ")" + std::string(call) +
                           R"(", "device": 0, "result": )" + std::to_string(code) +
                           R"(}, {"call": ")" + std::string(call) +
                           R"(", "device": 1, "result": )" + std::to_string(code) +
                           R"(}, {"call": "nvmlI*", "times": 0, "result": 1}])");
}

std::string make_driver_scenario(const char* call, int code) {
  return make_scenario(gpu(1), R"("rules": [{"call": ")" + std::string(call) + R"(", "result": )" +
                                   std::to_string(code) + "}]");
}

void check_failure(const Failure& failure) {
  CHECK(failure.code != Status::ok);
  CHECK(failure.source == Source::nvml);
  CHECK(!failure.message.view().empty());
  CHECK(failure.message.view().size() < 256);
}

void check_metric(const Metric& metric) {
  CHECK(metric.source == Source::nvml);
  if (metric.id == MetricId::last_fault) CHECK(metric.count == 79);
  if (metric.id == MetricId::pcie_replays) CHECK(metric.count == 5);
  if (metric.id == MetricId::clock_limit_mhz) CHECK(metric.value == 3105.0);
  if (metric.id == MetricId::temperature_shutdown) CHECK(metric.value == 97.0);
  if (metric.id == MetricId::power_limit_watts) CHECK(*metric.value >= 100.0);
  if (metric.id == MetricId::ecc_corrected) CHECK(metric.count == 1);
  if (metric.id == MetricId::rows_remapped) CHECK(metric.count.value() <= 2);
}

// Every reported value must be that of the machine without errors; the others must have a
// reason.
void read_everything(Machine& machine, const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    PoolList memory;
    if (const auto result = machine.source().memory(device.slot, memory, machine.reading);
        !result) {
      check_failure(result.failure());
      CHECK(memory.empty());
    }
    for (const Pool& pool : memory.all()) {
      if (pool.total) CHECK((pool.total == 16 * gib || pool.total == 100));
      if (pool.used) CHECK((*pool.used > 0 && (!pool.total || pool.used <= pool.total)));
    }
    hmn::Telemetry telemetry;
    const auto telemetry_result =
        machine.source().telemetry(device.slot, telemetry_field::all, telemetry, machine.reading);
    if (!telemetry_result) check_failure(telemetry_result.failure());
    if (telemetry.gpu_busy_percent) CHECK(telemetry.gpu_busy_percent == 64.0);
    if (telemetry.temperature_celsius) CHECK(telemetry.temperature_celsius == 45.0);
    if (telemetry.power_limit_watts) CHECK(telemetry.power_limit_watts == 350.0);
    std::vector<Metric> metrics;
    const auto metrics_result =
        machine.source().metrics(device.slot, false, metrics, machine.reading);
    if (!metrics_result) check_failure(metrics_result.failure());
    for (const Metric& metric : metrics) check_metric(metric);
    std::vector<Usage> rows;
    if (const auto result = machine.source().processes(device.slot, rows, machine.reading);
        !result) {
      check_failure(result.failure());
      CHECK(rows.empty());
    }
    CHECK(rows.size() <= 3);
    Usage own;
    if (const auto result = machine.source().process(device.slot, 7, false, own, machine.reading);
        !result) {
      check_failure(result.failure());
      CHECK(!own.used);
    }
  }
}

}  // namespace

TEST_CASE("every return code maps to a status and a message that fits a diagnostic") {
  for (const int code : codes) {
    const Failure failure = nvml::make_failure(static_cast<nvml::Code>(code),
                                               "nvmlDeviceGetMPSComputeRunningProcesses_v3");
    CAPTURE(failure.message.view());
    check_failure(failure);
    CHECK(failure.native.domain == NativeDomain::nvml);
    CHECK(failure.native.code == code);
    CHECK(failure.message.view().find(std::to_string(code)) != std::string::npos);
  }
  CHECK(nvml::get_status(nvml::success) == Status::ok);
}

TEST_CASE("any error code from any device call leaves only correct values and reasons") {
  for (std::size_t n = 0; n < calls.size(); ++n) {
    const char* const call = calls[n];
    Machine machine(make_code_scenario(call, 3));
    for_each_code(n, [&](int code) {
      CAPTURE(call);
      CAPTURE(code);
      machine.driver.load(make_code_scenario(call, code));
      machine.restart();
      std::vector<Device> devices;
      if (const auto result = machine.prepare(); !result) return check_failure(result.failure());
      if (const auto result = machine.list(devices); !result)
        return check_failure(result.failure());
      CHECK(devices.size() >= 3);
      CHECK(devices.size() <= 4);
      CHECK(devices.back().state == State::ready);
      CHECK(devices.back().uuid.view() == make_uuid(3));
      read_everything(machine, devices);
      for (const Diagnostic& diagnostic : machine.reading.find_diagnostics())
        check_failure(diagnostic.failure);
    });
  }
}

TEST_CASE("any driver-wide error code fails the reading or only loses its own value") {
  for (std::size_t n = 0; n < calls.size(); ++n) {
    const char* const call = calls[n];
    Machine machine(make_driver_scenario(call, 3));
    for_each_code(n, [&](int code) {
      CAPTURE(call);
      CAPTURE(code);
      machine.driver.load(make_driver_scenario(call, code));
      machine.restart();
      std::vector<Device> devices;
      if (const auto result = machine.prepare(); !result) return check_failure(result.failure());
      if (const auto result = machine.list(devices); !result)
        return check_failure(result.failure());
      read_everything(machine, devices);
    });
  }
}
