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

// Calls fn with each code, or with every fourth one from another start for each call.
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

// A full card, a partitioned one, and one that is never troubled.
std::string code_scenario(const char* call, int code) {
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
  return machine_of(gpu(1, full) + "," + gpu(2, split) + "," + gpu(3, full),
                    R"("rules": [{"call": ")" + std::string(call) +
                        R"(", "device": 0, "result": )" + std::to_string(code) +
                        R"(}, {"call": ")" + std::string(call) + R"(", "device": 1, "result": )" +
                        std::to_string(code) +
                        R"(}, {"call": "nvmlI*", "times": 0, "result": 1}])");
}

std::string everywhere(const char* call, int code) {
  return machine_of(gpu(1), R"("rules": [{"call": ")" + std::string(call) + R"(", "result": )" +
                                std::to_string(code) + "}]");
}

void check_failure(const Failure& why) {
  CHECK(why.code != Status::ok);
  CHECK(why.from == Source::nvml);
  CHECK(!why.message.view().empty());
  CHECK(why.message.view().size() < 256);
}

void check_number(const Metric& one) {
  CHECK(one.from == Source::nvml);
  if (one.id == MetricId::last_fault) CHECK(one.count == 79);
  if (one.id == MetricId::pcie_replays) CHECK(one.count == 5);
  if (one.id == MetricId::clock_limit_mhz) CHECK(one.value == 3105.0);
  if (one.id == MetricId::temperature_shutdown) CHECK(one.value == 97.0);
  if (one.id == MetricId::power_limit_watts) CHECK(*one.value >= 100.0);
  if (one.id == MetricId::ecc_corrected) CHECK(one.count == 1);
  if (one.id == MetricId::rows_remapped) CHECK(one.count.value() <= 2);
}

// Everything that is reported must be true of the untroubled machine; the rest must have its
// reason.
void read_everything(Machine& m, const std::vector<Device>& found) {
  for (const Device& d : found) {
    Pools memory;
    if (const auto done = m.source().memory(d.number, memory, m.reading); !done) {
      check_failure(done.why());
      CHECK(memory.empty());
    }
    for (const Pool& p : memory.all()) {
      if (p.total) CHECK((p.total == 16 * gib || p.total == 100));
      if (p.used) CHECK((*p.used > 0 && (!p.total || p.used <= p.total)));
    }
    hmn::Telemetry t;
    const auto reported = m.source().telemetry(d.number, telemetry_field::all, t, m.reading);
    if (!reported) check_failure(reported.why());
    if (t.gpu_busy_percent) CHECK(t.gpu_busy_percent == 64.0);
    if (t.temperature_celsius) CHECK(t.temperature_celsius == 45.0);
    if (t.power_limit_watts) CHECK(t.power_limit_watts == 350.0);
    std::vector<Metric> numbers;
    const auto counted = m.source().metrics(d.number, false, numbers, m.reading);
    if (!counted) check_failure(counted.why());
    for (const Metric& one : numbers) check_number(one);
    std::vector<Usage> rows;
    if (const auto done = m.source().processes(d.number, rows, m.reading); !done) {
      check_failure(done.why());
      CHECK(rows.empty());
    }
    CHECK(rows.size() <= 3);
    Usage own;
    if (const auto done = m.source().process(d.number, 7, false, own, m.reading); !done) {
      check_failure(done.why());
      CHECK(!own.used);
    }
  }
}

}  // namespace

TEST_CASE("each code has a status, and a sentence that fits a diagnostic") {
  for (const int code : codes) {
    const Failure why = nvml::failure_for(static_cast<nvml::Code>(code),
                                          "nvmlDeviceGetMPSComputeRunningProcesses_v3");
    CAPTURE(why.message.view());
    check_failure(why);
    CHECK(why.native.domain == NativeDomain::nvml);
    CHECK(why.native.code == code);
    CHECK(why.message.view().find(std::to_string(code)) != std::string::npos);
  }
  CHECK(nvml::status_of(nvml::success) == Status::ok);
}

TEST_CASE("each code from each call about a device leaves true values and reasons") {
  for (std::size_t n = 0; n < calls.size(); ++n) {
    const char* const call = calls[n];
    Machine m(code_scenario(call, 3));
    for_each_code(n, [&](int code) {
      CAPTURE(call);
      CAPTURE(code);
      m.driver.load(code_scenario(call, code));
      m.restart();
      std::vector<Device> found;
      if (const auto done = m.prepare(); !done) return check_failure(done.why());
      if (const auto done = m.list(found); !done) return check_failure(done.why());
      CHECK(found.size() >= 3);
      CHECK(found.size() <= 4);
      CHECK(found.back().state == State::ready);
      CHECK(found.back().uuid.view() == uuid_of(3));
      read_everything(m, found);
      for (const Diagnostic& d : m.reading.about()) check_failure(d.why);
    });
  }
}

TEST_CASE("each code from each call of the whole driver is a failure or costs its own value") {
  for (std::size_t n = 0; n < calls.size(); ++n) {
    const char* const call = calls[n];
    Machine m(everywhere(call, 3));
    for_each_code(n, [&](int code) {
      CAPTURE(call);
      CAPTURE(code);
      m.driver.load(everywhere(call, code));
      m.restart();
      std::vector<Device> found;
      if (const auto done = m.prepare(); !done) return check_failure(done.why());
      if (const auto done = m.list(found); !done) return check_failure(done.why());
      read_everything(m, found);
    });
  }
}
