// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A driver that lies: each call returns success with impossible outputs, or an error code.
// The result is the same through C, JSON and the C++ binding.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <hypomnesis.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "machine.hpp"

namespace {

// A card with all values, which the rules are about, and an honest one.
constexpr const char* lying_card = R"({"name": "NVIDIA Liar", "uuid": "GPU-a",
  "pci": {"address": "0000:01:00.0", "device_id": "0x26B910DE", "subsystem_id": "0x185110DE"},
  "compute_capability": [8, 9], "architecture": 8, "numa_node": 1, "virtualization": 0,
  "bar1": {"total": "256 MiB", "free": "255 MiB", "used": "1 MiB"},
  "memory": {"total": "16 GiB", "free": "12 GiB", "used": "4 GiB"},
  "memory_v2": {"total": "16 GiB", "reserved": "512 MiB", "free": "12 GiB", "used": "3584 MiB"},
  "utilization": {"gpu": 64, "memory": 12}, "encoder": 7, "decoder": 9, "temperature": 45,
  "temperature_thresholds": {"shutdown": 97, "slowdown": 94, "memory_max": 105},
  "power_usage_mw": 58980, "enforced_power_limit_mw": 350000, "default_power_limit_mw": 300000,
  "power_limits_mw": {"min": 100000, "max": 450000}, "energy_mj": 1000,
  "clocks_mhz": {"graphics": 2520, "sm": 2520, "memory": 9001, "video": 1965},
  "max_clocks_mhz": {"graphics": 3105, "sm": 3105, "memory": 9501, "video": 2415},
  "fans": 31, "pstate": 2, "pcie": {"gen": 4, "width": 16, "replays": 5},
  "clocks_event_reasons": 4, "fields": {"82": 61}, "event_types": 8, "xids": [79],
  "ecc_errors": {"corrected_volatile": 1, "corrected_aggregate": 2, "uncorrected_volatile": 3,
                 "uncorrected_aggregate": 4},
  "remapped_rows": {"corrected": 1, "uncorrected": 2, "pending": 1, "failed": 0},
  "processes": {"compute": [{"pid": 4000001, "used": "1 GiB"}, {"pid": "self", "used": "2 GiB"}],
                "graphics": [{"pid": 4000002, "used": "1 MiB"}], "mps": []},
  "process_utilization": [{"pid": 4000001, "sm": 33}]})";
constexpr const char* honest_card = R"({"name": "NVIDIA Honest", "uuid": "GPU-b",
  "pci": {"address": "0000:02:00.0"},
  "memory": {"total": "1000 MiB", "free": "600 MiB", "used": "400 MiB"}, "temperature": 33,
  "processes": {"compute": [{"pid": "self", "used": 300}], "graphics": []}})";

std::string scenario(const std::string& rule) {
  return R"({"devices": [)" + std::string(lying_card) + "," + honest_card + R"(], "rules": [)" +
         rule + "]}";
}

using Values = std::map<std::string, std::string>;

// Excludes values that differ between two readings of one machine or follow from another value.
bool is_compared(const std::string& key, const nlohmann::json& value) {
  static const std::set<std::string> others{"accounting",
                                            "age_ns",
                                            "allocated_bytes",
                                            "backend",
                                            "device_index",
                                            "index",
                                            "instance",
                                            "instance_name",
                                            "is_main",
                                            "name_state",
                                            "notes",
                                            "sources",
                                            "metrics",
                                            "pid",
                                            "process_key",
                                            "start_unix_ns",
                                            "uid",
                                            "unit",
                                            "vendor",
                                            "vendor_id",
                                            "window_ns",
                                            "host_resident_bytes",
                                            "driver_index"};
  return !value.is_object() && !value.is_null() && value != "unknown" && !others.contains(key);
}

void store(Values& all, const std::string& prefix, const nlohmann::json& record) {
  for (const auto& [key, value] : record.items()) {
    if (is_compared(key, value)) all[prefix + key] = value.dump();
  }
}

std::string format_prefix(const nlohmann::json& record) {
  const int index = record.at("device_index").get<int>();
  return index == 0 ? "" : std::to_string(index) + ".";
}

// The values of a snapshot by what they are; those of the other card begin with "1.".
Values collect_values(const nlohmann::json& snapshot) {
  Values all;
  for (const auto& device : snapshot.at("devices")) {
    const int index = device.at("index").get<int>();
    const std::string prefix = index == 0 ? "" : std::to_string(index) + ".";
    store(all, prefix, device);
    if (device.at("telemetry").is_object()) store(all, prefix, device.at("telemetry"));
    if (device.at("self").is_object()) store(all, prefix + "self.", device.at("self"));
    for (const auto& metric : device.at("metrics")) {
      const auto& value = metric.at("value").is_null() ? metric.at("count") : metric.at("value");
      all[prefix + metric.at("name").get<std::string>() + "/" + metric.at("instance").dump()] =
          value.dump();
    }
  }
  for (const auto& pool : snapshot.at("pools")) store(all, format_prefix(pool) + "pool.", pool);
  for (const auto& usage : snapshot.at("usages")) {
    const auto pid = usage.at("pid").get<unsigned>();
    const bool is_self = pid == static_cast<unsigned>(getpid());
    const std::string process = is_self ? "self" : std::to_string(pid);
    for (const char* key : {"used_bytes", "busy_percent"}) {
      if (!usage.at(key).is_null())
        all[format_prefix(usage) + "row " + process + "." + key] = usage.at(key).dump();
    }
  }
  return all;
}

// "-power_watts ~numa_node=2": what is missing, differs or was added.
std::string difference(const Values& honest, const Values& actual) {
  std::string all;
  for (const auto& [key, value] : honest) {
    const auto it = actual.find(key);
    if (it == actual.end()) all += " -" + key;
    if (it != actual.end() && it->second != value) all += " ~" + key + "=" + it->second;
  }
  for (const auto& [key, value] : actual) {
    if (!honest.contains(key)) all += " +" + key + "=" + value;
  }
  return all.empty() ? all : all.substr(1);
}

// Values that only one call provides: no lie of the call leaves them, unless a row of `others`
// is about it.
struct SourceRow {
  const char* call;
  const char* costs;
};

constexpr SourceRow only_sources[] = {
    {"nvmlSystemGetDriverVersion", "-1.driver_version -driver_version"},
    {"nvmlSystemGetCudaDriverVersion*",
     "-1.cuda_version_major -1.cuda_version_minor -cuda_version_major -cuda_version_minor"},
    {"nvmlDeviceGetName", "-name"},
    {"nvmlDeviceGetUUID", "-uuid"},
    {"nvmlDeviceGetPciInfo_v3", "-pci_bus_id -pci_device -pci_subsystem"},
    {"nvmlDeviceGetArchitecture", "-architecture"},
    {"nvmlDeviceGetCudaComputeCapability", "-compute_capability_major -compute_capability_minor"},
    {"nvmlDeviceGetMemoryInfo*",
     "-memory_kind -numa_node -pool.free_bytes -pool.kind -pool.reserved_bytes -pool.total_bytes "
     "-pool.unattributed_bytes -pool.usable_bytes -pool.used_bytes"},
    {"nvmlDeviceGetVirtualizationMode", ""},
    {"nvmlDeviceGetBAR1MemoryInfo", ""},
    {"nvmlDeviceGetC2cModeInfoV", ""},
    {"nvmlDeviceGetAddressingMode", ""},
    {"nvmlDeviceGetMigMode", ""},
    {"nvmlDeviceGetNumaNodeId", "~memory_kind=\"dedicated\" -numa_node"},
    {"nvmlDeviceGetUtilizationRates",
     "-engine_percent/0 -engine_percent/8 -gpu_busy_percent -memory_busy_percent"},
    {"nvmlDeviceGetEncoderUtilization", "-encoder_busy_percent -engine_percent/5"},
    {"nvmlDeviceGetDecoderUtilization", "-decoder_busy_percent -engine_percent/4"},
    {"nvmlDeviceGetTemperature*",
     "-temperature/1 -temperature_celsius -temperature_limit/1 "
     "-temperature_limit/3 -temperature_shutdown/1"},
    {"nvmlDeviceGetTemperatureThreshold",
     "-temperature_limit/1 -temperature_limit/3 -temperature_shutdown/1"},
    {"nvmlDeviceGetPowerUsage", "-power_watts -power_watts/0"},
    {"nvmlDeviceGetEnforcedPowerLimit", "-power_limit_watts -power_limit_watts/1"},
    {"nvmlDeviceGetPowerManagementDefaultLimit", "-power_limit_watts/2"},
    {"nvmlDeviceGetPowerManagementLimitConstraints", "-power_limit_watts/3 -power_limit_watts/4"},
    {"nvmlDeviceGetTotalEnergyConsumption", "-energy_joules -energy_joules/0"},
    {"nvmlDeviceGetClockInfo",
     "-clock_mhz/1 -clock_mhz/2 -clock_mhz/3 -clock_mhz/4 "
     "-core_clock_mhz -memory_clock_mhz"},
    {"nvmlDeviceGetMaxClockInfo",
     "-clock_limit_mhz/1 -clock_limit_mhz/2 -clock_limit_mhz/3 -clock_limit_mhz/4"},
    {"nvmlDeviceGetFanSpeed", "-fan_percent"},
    {"nvmlDeviceGetFanSpeed_v2", "-fan_percent/1"},
    {"nvmlDeviceGetNumFans", "-fan_percent/1"},
    {"nvmlDeviceGetCurrPcieLinkGeneration", "-pcie_generation"},
    {"nvmlDeviceGetCurrPcieLinkWidth", "-pcie_width"},
    {"nvmlDeviceGetPerformanceState", "-p_state"},
    {"nvmlDeviceGetCurrentClocksEventReasons", "-throttle"},
    {"nvmlDeviceGetFieldValues", "-memory_celsius -temperature/3"},
    {"nvmlDeviceGetPcieReplayCounter", "-pcie_replays/0"},
    {"nvmlDeviceGetTotalEccErrors",
     "-ecc_corrected/1 -ecc_corrected/2 -ecc_uncorrected/1 -ecc_uncorrected/2"},
    {"nvmlDeviceGetRemappedRows",
     "-rows_remapped/1 -rows_remapped/2 -rows_remapped/3 -rows_remapped/4"},
    {"nvmlDeviceGetProcessUtilization",
     "-row 4000001.busy_percent -row 4000002.busy_percent -row self.busy_percent"},
    {"nvmlDeviceGetSupportedEventTypes", "-last_fault/0"},
    {"nvmlEventSetCreate", "-last_fault/0"},
    {"nvmlEventSetWait_v2", "-last_fault/0"},
    {"nvmlDeviceGetComputeRunningProcesses_v3",
     "-pool.unattributed_bytes -row 4000001.busy_percent -row 4000001.used_bytes "
     "-row self.busy_percent -row self.used_bytes -self.kinds -self.used_bytes"},
    {"nvmlDeviceGetGraphicsRunningProcesses_v3",
     "-pool.unattributed_bytes -row 4000002.busy_percent -row 4000002.used_bytes"},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "-pool.unattributed_bytes"},
};

// Lies with another result: those that no reader can distinguish from the truth, or only in part.
struct LieRow {
  const char* call;
  const char* lie;
  const char* costs;
};

constexpr LieRow others[] = {
    // The kind of memory follows from NUMA.
    {"nvmlDeviceGetMemoryInfo*", "huge",
     "-pool.free_bytes -pool.kind -pool.reserved_bytes -pool.total_bytes -pool.unattributed_bytes "
     "-pool.usable_bytes -pool.used_bytes"},
    // Reasons that are known, with some that are not.
    {"nvmlDeviceGetCurrentClocksEventReasons", "huge",
     R"(~throttle=["idle","power","thermal","hardware","setting","other"])"},
    // A mode that is known, but not that of the truth.
    {"nvmlDeviceGetC2cModeInfoV", "all_bits", ""},
    // -1 is a temperature.
    {"nvmlDeviceGetTemperature*", "all_bits",
     "~temperature/1=-1 ~temperature_celsius=-1 -temperature_limit/1 -temperature_limit/3 "
     "-temperature_shutdown/1"},
    // A link that was repeated two thousand million times.
    {"nvmlDeviceGetPcieReplayCounter", "huge", "~pcie_replays/0=2004318071"},
    // One fan is there, whatever their number.
    {"nvmlDeviceGetNumFans", "all_bits", ""},
    {"nvmlDeviceGetNumFans", "huge", ""},
    // All types of events are among them.
    {"nvmlDeviceGetSupportedEventTypes", "all_bits", ""},
    // The rows are there, and more are counted: nothing can be said of the rest.
    {"nvmlDeviceGetComputeRunningProcesses_v3", "huge", "-pool.unattributed_bytes"},
    {"nvmlDeviceGetComputeRunningProcesses_v3", "growing", "-pool.unattributed_bytes"},
    {"nvmlDeviceGetGraphicsRunningProcesses_v3", "huge", "-pool.unattributed_bytes"},
    {"nvmlDeviceGetGraphicsRunningProcesses_v3", "growing", "-pool.unattributed_bytes"},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "growing", "-pool.unattributed_bytes"},
    // No row is counted, and none was written over.
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "all_bits", ""},
    {"nvmlDeviceGetProcessUtilization", "growing",
     "-row 4000002.busy_percent -row self.busy_percent"},
    // Devices that NVML itself does not have.
    {"nvmlDeviceGetCount_v2", "all_bits", ""},
    {"nvmlDeviceGetCount_v2", "huge", ""},
    {"nvmlDeviceGetCount_v2", "growing", ""},
};

constexpr hmn_flags everything = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_SELF |
                                 HMN_COLLECT_PROCESSES | HMN_COLLECT_TELEMETRY |
                                 HMN_COLLECT_METRICS;

bool is_device_call(const std::string& call) {
  return call.starts_with("nvmlDevice") && !call.starts_with("nvmlDeviceGetCount");
}

std::string make_rule(const std::string& call, const std::string& effect) {
  return R"({"call": ")" + call + R"(", )" + (is_device_call(call) ? R"("device": 0, )" : "") +
         effect + "}";
}

// A machine whose caller holds a GPU, so that only a list can prove that the caller uses nothing.
struct LyingMachine {
  Machine machine;
  hypomnesis::snapshot snapshot;
  nlohmann::json json;

  explicit LyingMachine(const Options& options = {})
      : machine(options), snapshot(take_snapshot(machine)) {
    json = nlohmann::json::parse(snapshot.json());
  }
  static hypomnesis::snapshot take_snapshot(const Machine& host) {
    const auto own_pid = static_cast<std::uint32_t>(getpid());
    auto self = hmn_fake::simple_process(own_pid, "caller", 1000, 100);
    self.descriptors = {{7, "/dev/nvidia-uvm"}};
    hmn_fake::add_process(host.tree(), self);
    hmn_fake::set_self(host.tree(), own_pid);
    host.tree().link("proc/" + std::to_string(own_pid) + "/ns/pid", "pid:[4026531836]");
    const std::string proc = host.tree().proc();
    REQUIRE(hmn_context_set_path(host.context(), HMN_PATH_PROC, proc.c_str(), nullptr) == HMN_OK);
    hmn_snapshot* handle = nullptr;
    auto options = sized<hmn_snapshot_options>();
    options.collect = everything;
    REQUIRE(hmn_snapshot_take(host.context(), &options, &handle, nullptr) == HMN_OK);
    return hypomnesis::snapshot(handle);
  }
};

// Checks that C and the binding have the values of the JSON.
void check_same_everywhere(const LyingMachine& lying) {
  const auto native = lying.snapshot.native();
  const auto& pools = lying.json.at("pools");
  auto pool = sized<hmn_pool>();
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    REQUIRE(hmn_snapshot_pool_at(native.get(), i, &pool, nullptr) == HMN_OK);
    const auto bound = lying.snapshot.pool(i);
    const bool is_known = (pool.present & HMN_POOL_HAS_USED) != 0;
    CHECK(is_known == !pools[i].at("used_bytes").is_null());
    CHECK(is_known == bound.used_bytes.has_value());
    if (is_known) CHECK(pools[i].at("used_bytes") == pool.used_bytes);
    if (is_known) CHECK(bound.used_bytes == pool.used_bytes);
  }
  const auto& usages = lying.json.at("usages");
  auto row = sized<hmn_usage>();
  for (std::uint32_t i = 0; i < usages.size(); ++i) {
    REQUIRE(hmn_snapshot_usage_at(native.get(), i, &row, nullptr) == HMN_OK);
    const auto bound = lying.snapshot.usage(i);
    const bool is_known = (row.present & HMN_USAGE_HAS_USED) != 0;
    CHECK(is_known == !usages[i].at("used_bytes").is_null());
    CHECK(is_known == bound.used_bytes.has_value());
    if (is_known) CHECK(usages[i].at("used_bytes") == row.used_bytes);
  }
  CHECK(hmn_snapshot_usage_at(native.get(), static_cast<std::uint32_t>(usages.size()), &row,
                              nullptr) == HMN_E_RANGE);
}

// Checks that a direct reading of own use agrees with the snapshot: a failure is not reported as 0.
void check_own_use(const LyingMachine& lying) {
  for (const auto& device : lying.json.at("devices")) {
    const auto index = device.at("index").get<std::uint32_t>();
    auto own = sized<hmn_usage>();
    const auto bound = lying.snapshot.own_usage(index);
    // No call hangs here, but on a busy machine one can look as if it did.
    hmn_status status = HMN_E_TIMEOUT;
    REQUIRE(becomes_true([&] {
      status = hmn_usage_read_self(lying.machine.context(), index, 0, &own, nullptr);
      return status != HMN_E_TIMEOUT || !bound;
    }));
    const bool is_known = status == HMN_OK && (own.present & HMN_USAGE_HAS_USED) != 0;
    CHECK(is_known == (bound && bound->used_bytes));
    CHECK(is_known ==
          (device.at("self").is_object() && !device.at("self").at("used_bytes").is_null()));
    if (is_known) CHECK(own.used_bytes != 0);
    if (is_known) CHECK(bound->used_bytes == own.used_bytes);
  }
}

// Checks that missing values have a reason, and that no reason is a code that was not returned.
void check_reasons(const nlohmann::json& json, const std::string& costs, int returned) {
  bool has_reason = false;
  for (const auto& diagnostic : json.at("diagnostics")) {
    const auto message = diagnostic.at("message").get<std::string>();
    CAPTURE(message);
    if (diagnostic.at("device_index") != 1) has_reason = true;
    if (diagnostic.at("native_domain") == "nvml") {
      const int code = diagnostic.at("native_code").get<int>();
      // 1 to 3 are the honest answers to what was not opened, is not there, or has no such value.
      CHECK((code == returned || (code >= 1 && code <= 3) || code == 7));
    }
    if (returned != 15) CHECK(message.find("fallen off the bus") == message.npos);
  }
  CHECK((has_reason || costs.empty()));
}

// Checks that an unknown or incomplete process list of device 0 is marked in its rows or explained.
void check_lists(const nlohmann::json& json, const Values& honest, const Values& actual) {
  bool lacks_row = false;
  for (const auto& [key, value] : honest) {
    lacks_row = lacks_row ||
                (key.starts_with("row ") && key.ends_with("used_bytes") && !actual.contains(key));
  }
  if (!lacks_row) return;
  bool is_explained = false;
  for (const auto& diagnostic : json.at("diagnostics")) {
    const bool is_of_all =
        diagnostic.at("subject") == "devices" && diagnostic.at("device_index").is_null();
    const bool is_of_list = diagnostic.at("subject") == "processes" &&
                            diagnostic.at("device_index") == 0 && diagnostic.at("pid").is_null() &&
                            diagnostic.at("fields").empty();
    is_explained = is_explained || is_of_all || is_of_list;
  }
  CHECK(is_explained);
  for (const auto& usage : json.at("usages")) {
    const auto& notes = usage.at("notes");
    const bool is_bound = std::find(notes.begin(), notes.end(), "lower_bound") != notes.end();
    if (usage.at("device_index") == 0) CHECK(is_bound);
  }
}

}  // namespace

TEST_CASE("a lie costs only its own value, with a reason, through C, JSON and a binding") {
  const FakeNvml nvml;
  nvml.load(scenario(""));
  const Values honest = collect_values(LyingMachine().json);
  REQUIRE(honest.size() > 70);
  const auto check = [&](const char* call, const char* lie, const std::string& costs) {
    CAPTURE(std::string(call));
    CAPTURE(std::string(lie));
    nvml.reset();
    nvml.load(scenario(make_rule(call, R"("lie": ")" + std::string(lie) + R"(")")));
    const LyingMachine lying;
    const Values actual = collect_values(lying.json);
    CHECK(difference(honest, actual) == costs);
    check_reasons(lying.json, costs, 0);
    check_same_everywhere(lying);
    check_own_use(lying);
    check_lists(lying.json, honest, actual);
  };
  for (const SourceRow& row : only_sources) {
    for (const char* lie : {"untouched", "all_bits", "huge"}) {
      const bool is_other =
          std::any_of(std::begin(others), std::end(others), [&](const LieRow& candidate) {
            return std::string(candidate.call) == row.call && std::string(candidate.lie) == lie;
          });
      if (!is_other) check(row.call, lie, row.costs);
    }
  }
  for (const LieRow& row : others) check(row.call, row.lie, row.costs);
}

TEST_CASE("invalid handles and counts add no device, and none twice") {
  const FakeNvml nvml;
  const auto read_names = [&](const std::string& call, const std::string& lie) {
    nvml.reset();
    nvml.load(scenario(make_rule(call, R"("lie": ")" + lie + R"(")")));
    const LyingMachine lying;
    check_reasons(lying.json, "-", 0);
    check_own_use(lying);
    std::multiset<std::string> names;
    for (const auto& device : lying.json.at("devices")) {
      names.insert(device.at("name").is_null() ? "?" : device.at("name").get<std::string>());
    }
    return names;
  };
  using Names = std::multiset<std::string>;
  const std::string by_index = "nvmlDeviceGetHandleByIndex_v2";
  CHECK(read_names(by_index, "next_device") == Names{"NVIDIA Honest"});
  for (const char* lie : {"untouched", "all_bits", "huge"}) {
    CAPTURE(std::string(lie));
    CHECK(read_names(by_index, lie) == Names{"?", "NVIDIA Honest"});
  }
  CHECK(read_names("nvmlDeviceGetCount_v2", "huge") == Names{"NVIDIA Honest", "NVIDIA Liar"});
}

TEST_CASE("a count that was not written is not taken for 0 devices") {
  const FakeNvml nvml;
  for (const char* call : {"nvmlDeviceGetCount_v2", "nvmlInit*"}) {
    nvml.reset();
    nvml.load(scenario(make_rule(call, R"("lie": "untouched")")));
    const Machine machine;
    std::uint32_t count = 99;
    CHECK(hmn_device_scan(machine.context(), &count, nullptr, nullptr) != HMN_OK);
    CHECK(count == 0);
  }
}

TEST_CASE("error codes from any call leave values correct or absent, with their own reason") {
  // The codes of nvml.h, and some others. Each call returns a part of them, in turn.
  constexpr int codes[] = {1,  2,   3,  4,  5,  6,  7,    8,           9,          10,
                           11, 12,  13, 14, 15, 16, 17,   18,          19,         20,
                           21, 22,  23, 24, 25, 26, 27,   28,          29,         30,
                           31, 999, 32, 77, -1, -2, 1000, -2147483647, 2147483647, 65536};
  constexpr std::size_t in_turn = 8;
  const FakeNvml nvml;
  nvml.load(scenario(""));
  const Values honest = collect_values(LyingMachine().json);
  std::size_t turn = 0;
  for (const SourceRow& row : only_sources) {
    for (std::size_t n = turn++ % in_turn; n < std::size(codes); n += in_turn) {
      const int code = codes[n];
      CAPTURE(std::string(row.call));
      CAPTURE(code);
      nvml.reset();
      nvml.load(scenario(make_rule(row.call, R"("result": )" + std::to_string(code))));
      const LyingMachine lying;
      const Values actual = collect_values(lying.json);
      const std::string call = row.call;
      const bool is_unified = code == 3 && call == "nvmlDeviceGetMemoryInfo*";
      // NOT_FOUND: nothing was active.
      const bool is_idle = code == 6 && call == "nvmlDeviceGetProcessUtilization";
      for (const auto& [key, value] : actual) {
        if (key.find("kind") != key.npos || key == "form" || key == "state" || is_idle) continue;
        if (is_unified && key.starts_with("pool.")) continue;
        CAPTURE(key);
        REQUIRE(honest.contains(key));
        CHECK(honest.at(key) == value);
      }
      check_reasons(lying.json, difference(honest, actual), code);
      check_own_use(lying);
      check_lists(lying.json, honest, actual);
    }
  }
}

TEST_CASE("a slow or hanging call leaves values correct or absent") {
  const FakeNvml nvml;
  nvml.load(scenario(""));
  const Values honest = collect_values(LyingMachine().json);
  std::size_t turn = 0;
  for (const SourceRow& row : only_sources) {
    const bool hangs = turn++ % 4 == 0;  // the others are slow
    const char* const effect = hangs ? R"("hang": true)" : R"("delay_ms": 2)";
    CAPTURE(std::string(row.call));
    CAPTURE(std::string(effect));
    nvml.reset();
    nvml.load(scenario(make_rule(row.call, effect)));
    {
      const LyingMachine lying({.deadline_ns = HMN_MILLISECONDS(20)});
      for (const auto& [key, value] : collect_values(lying.json)) {
        if (key == "state" || key == "1.state") continue;
        CAPTURE(key);
        REQUIRE(honest.contains(key));
        CHECK(honest.at(key) == value);
      }
      check_reasons(lying.json, "", 0);
    }
    nvml.settle();
  }
}
