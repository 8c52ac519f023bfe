// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A missing function of NVML costs its own value and nothing else.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "machine.hpp"

using namespace hmn;

namespace {

constexpr const char* full = R"("utilization": {"gpu": 64, "memory": 12}, "encoder": 7,
  "decoder": 9, "temperature": 45, "power_usage_mw": 58980, "enforced_power_limit_mw": 350000,
  "power_limit_mw": 350000, "energy_mj": 1000, "clocks_mhz": {"graphics": 2520, "memory": 9001},
  "fans": 31, "pstate": 2, "pcie": {"gen": 4, "width": 16}, "clocks_event_reasons": 4,
  "fields": {"82": 61}, "event_types": 8, "xids": [31, 79], "numa_node": 1, "virtualization": 0,
  "processes": {"compute": [{"pid": 1001, "used": "1 GiB"}], "graphics": [{"pid": 1002, "used": 5}],
                "mps": [{"pid": 1003, "used": 7}]})";

constexpr const char* split = R"("mig": {"mode": 1, "max": 2, "instances": [{"name": "MIG",
  "uuid": "MIG-1", "memory": {"total": 100, "free": 90, "used": 10},
  "memory_v2": {"total": 100, "reserved": 1, "free": 90, "used": 9}}]})";

const std::string scenario = make_scenario(gpu(1, full) + "," + gpu(2, split));

// A copy of the fake driver in which dlsym does not find one symbol: its name is changed in the
// string table that the loader compares with.
class PartialDriver {
 public:
  explicit PartialDriver(const std::string& path) : path_(path) {
    std::filesystem::copy_file(HMN_FAKE_NVML, path);
    std::ifstream file(path, std::ios::binary);
    image_.assign(std::istreambuf_iterator<char>(file), {});
  }

  void hide(const std::string& symbol) const { write(find_symbol(symbol), '!'); }
  void show(const std::string& symbol) const { write(find_symbol(symbol), symbol.front()); }

 private:
  [[nodiscard]] std::size_t find_symbol(const std::string& symbol) const {
    Elf64_Ehdr header;
    std::memcpy(&header, image_.data(), sizeof header);
    const std::string name = '\0' + symbol + '\0';
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, image_.data() + header.e_shoff + i * sizeof section, sizeof section);
      if (section.sh_type != SHT_STRTAB || (section.sh_flags & SHF_ALLOC) == 0) continue;
      const std::size_t position = image_.find(name, section.sh_offset);
      if (position < section.sh_offset + section.sh_size) return position + 1;
    }
    FAIL("no such symbol: " << symbol);
    return 0;
  }

  void write(std::size_t offset, char byte) const {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
    REQUIRE(file.flush());
  }

  std::string path_;
  std::string image_;
};

using Values = std::map<std::string, std::string>;

template <class T>
void store(Values& all, const std::string& key, const std::optional<T>& value) {
  if (value) all[key] = std::to_string(*value);
}

void store(Values& all, const std::string& key, std::string_view text) {
  if (!text.empty()) all[key] = text;
}

void store_device(Values& all, const Device& device) {
  const std::string prefix = std::to_string(device.slot) + ".";
  store(all, prefix + "name", device.name.view());
  store(all, prefix + "uuid", device.uuid.view());
  store(all, prefix + "pci", device.pci_bus_id.view());
  store(all, prefix + "driver", device.driver_version.view());
  store(all, prefix + "cuda", device.cuda_version_major);
  store(all, prefix + "capability", device.compute_capability_major);
  store(all, prefix + "architecture", device.architecture.view());
  store(all, prefix + "index", device.driver_index);
  store(all, prefix + "numa", device.numa_node);
  if (device.instance) all[prefix + "instance"] = std::to_string(device.instance->gpu);
  all[prefix + "form"] = std::to_string(static_cast<int>(device.form));
  all[prefix + "memory kind"] = std::to_string(static_cast<int>(device.memory_kind));
}

void store_telemetry(Values& all, const hmn::Telemetry& telemetry) {
  store(all, "gpu busy", telemetry.gpu_busy_percent);
  store(all, "memory busy", telemetry.memory_busy_percent);
  store(all, "encoder", telemetry.encoder_busy_percent);
  store(all, "decoder", telemetry.decoder_busy_percent);
  store(all, "temperature", telemetry.temperature_celsius);
  store(all, "memory temperature", telemetry.memory_celsius);
  store(all, "power", telemetry.power_watts);
  store(all, "power limit", telemetry.power_limit_watts);
  store(all, "energy", telemetry.energy_joules);
  store(all, "core clock", telemetry.core_clock_mhz);
  store(all, "memory clock", telemetry.memory_clock_mhz);
  store(all, "fan", telemetry.fan_percent);
  store(all, "pcie generation", telemetry.pcie_generation);
  store(all, "pcie width", telemetry.pcie_width);
  store(all, "p state", telemetry.p_state);
  store(all, "throttle", telemetry.throttle);
}

Values read_all(const std::string& path) {
  Machine machine(scenario, path);
  Values all;
  for (const Device& device : machine.devices()) store_device(all, device);
  PoolList memory;
  if (machine.memory(0, memory)) {
    for (const Pool& pool : memory.all()) {
      store(all, "total", pool.total);
      store(all, "free", pool.free);
      store(all, "used", pool.used);
      store(all, "reserved", pool.reserved);
    }
  }
  hmn::Telemetry telemetry;
  if (machine.source().telemetry(0, telemetry_field::all, telemetry, machine.reading))
    store_telemetry(all, telemetry);
  std::vector<Metric> metrics;
  require_ok(machine.source().metrics(0, false, metrics, machine.reading));
  for (const Metric& metric : metrics) {
    if (metric.id == MetricId::last_fault) store(all, "last fault", metric.count);
  }
  std::vector<Usage> rows;
  if (machine.source().processes(0, rows, machine.reading)) {
    for (const Usage& usage : rows) store(all, "pid " + std::to_string(usage.pid), usage.used);
  }
  for (const Diagnostic& diagnostic : machine.reading.find_diagnostics()) {
    CHECK(diagnostic.failure.code == Status::unsupported);
    CHECK(diagnostic.failure.message.view().size() < 256);
  }
  return all;
}

// What differs from the full driver's values; "+" where a value came instead.
std::set<std::string> find_differences(const Values& full_values, const Values& actual) {
  std::set<std::string> keys;
  for (const auto& [key, value] : full_values) {
    const auto it = actual.find(key);
    if (it == actual.end()) keys.insert(key);
    if (it != actual.end() && it->second != value) keys.insert("other " + key);
  }
  for (const auto& [key, value] : actual) {
    if (!full_values.contains(key)) keys.insert("+" + key);
  }
  return keys;
}

std::string join_keys(const std::set<std::string>& keys) {
  std::string all;
  for (const std::string& key : keys) all += key + "; ";
  return all;
}

struct Expectation {
  const char* symbol;
  std::set<std::string> lost_keys;
};

const std::set<std::string> mig_keys{"2.name",     "2.uuid",       "2.driver",
                                     "2.cuda",     "2.form",       "2.memory kind",
                                     "2.instance", "2.capability", "2.architecture"};

const Expectation expectations[] = {
    {"nvmlInitWithFlags", {}},
    {"nvmlInit_v2", {}},
    {"nvmlInit", {}},
    {"nvmlShutdown", {}},
    {"nvmlErrorString", {}},
    {"nvmlSystemGetDriverVersion", {"0.driver", "1.driver", "2.driver"}},
    {"nvmlSystemGetCudaDriverVersion_v2", {}},
    {"nvmlSystemGetCudaDriverVersion", {}},
    {"nvmlDeviceGetCount_v2", {}},
    {"nvmlDeviceGetHandleByIndex_v2", {}},
    {"nvmlDeviceGetName", {"0.name", "1.name", "2.name"}},
    {"nvmlDeviceGetUUID", {"0.uuid", "1.uuid", "2.uuid"}},
    {"nvmlDeviceGetCudaComputeCapability", {"0.capability", "1.capability", "2.capability"}},
    {"nvmlDeviceGetArchitecture", {"0.architecture", "1.architecture", "2.architecture"}},
    {"nvmlDeviceGetPciInfo_v3", {}},
    {"nvmlDeviceGetVirtualizationMode", {}},
    {"nvmlDeviceGetMemoryInfo_v2", {"reserved", "other used"}},
    {"nvmlDeviceGetMemoryInfo", {}},
    {"nvmlDeviceGetBAR1MemoryInfo", {}},
    {"nvmlDeviceGetNumaNodeId", {"0.numa", "other 0.memory kind"}},
    {"nvmlDeviceGetC2cModeInfoV", {}},
    {"nvmlDeviceGetAddressingMode", {}},
    {"nvmlDeviceGetComputeRunningProcesses_v3", {}},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3", {}},
    {"nvmlDeviceGetGraphicsRunningProcesses_v3", {}},
    {"nvmlDeviceGetMigMode", mig_keys},
    {"nvmlDeviceGetMaxMigDeviceCount", mig_keys},
    {"nvmlDeviceGetMigDeviceHandleByIndex", mig_keys},
    {"nvmlDeviceGetGpuInstanceId", {"2.instance"}},
    {"nvmlDeviceGetComputeInstanceId", {"2.instance"}},
    {"nvmlDeviceGetUtilizationRates", {"gpu busy", "memory busy"}},
    {"nvmlDeviceGetEncoderUtilization", {"encoder"}},
    {"nvmlDeviceGetDecoderUtilization", {"decoder"}},
    {"nvmlDeviceGetTemperatureV", {}},
    {"nvmlDeviceGetTemperature", {}},
    {"nvmlDeviceGetPowerUsage", {"power"}},
    {"nvmlDeviceGetEnforcedPowerLimit", {}},
    {"nvmlDeviceGetTotalEnergyConsumption", {"energy"}},
    {"nvmlDeviceGetClockInfo", {"core clock", "memory clock"}},
    {"nvmlDeviceGetFanSpeed", {}},
    {"nvmlDeviceGetFanSpeed_v2", {}},
    {"nvmlDeviceGetCurrPcieLinkGeneration", {"pcie generation"}},
    {"nvmlDeviceGetCurrPcieLinkWidth", {"pcie width"}},
    {"nvmlDeviceGetPerformanceState", {"p state"}},
    {"nvmlDeviceGetCurrentClocksEventReasons", {}},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", {}},
    {"nvmlDeviceGetFieldValues", {"memory temperature"}},
    {"nvmlDeviceGetSupportedEventTypes", {"last fault"}},
    {"nvmlDeviceRegisterEvents", {"last fault"}},
    {"nvmlEventSetCreate", {"last fault"}},
    {"nvmlEventSetWait_v2", {}},
    {"nvmlEventSetFree", {}},
};

}  // namespace

TEST_CASE("a missing function costs only its own value") {
  const hmn_fake::Tree folder;
  const Values whole = read_all(HMN_FAKE_NVML);
  REQUIRE(whole.contains("memory temperature"));
  REQUIRE(whole.contains("2.instance"));
  REQUIRE(whole.at("last fault") == "79");
  const std::string path = folder.path("libnvidia-ml.so.1");
  const PartialDriver driver(path);
  for (const Expectation& expectation : expectations) {
    const std::string symbol = expectation.symbol;
    CAPTURE(symbol);
    driver.hide(symbol);
    CHECK(join_keys(find_differences(whole, read_all(path))) == join_keys(expectation.lost_keys));
    driver.show(symbol);
  }
  CHECK(join_keys(find_differences(whole, read_all(path))).empty());
}

TEST_CASE("with only the init and identity functions the devices are listed") {
  const Values values =
      read_all(std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-init_only/libnvidia-ml.so.1");
  CHECK(values.contains("0.name"));
  CHECK(values.contains("0.uuid"));
  CHECK(values.contains("0.pci"));
  CHECK(!values.contains("total"));
  CHECK(!values.contains("pid 1001"));
}
