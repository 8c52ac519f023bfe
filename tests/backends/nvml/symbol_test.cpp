// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each function of NVML missing: it costs its own value and nothing else.
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

const std::string scenario = machine_of(gpu(1, full) + "," + gpu(2, split));

// A copy of the fake driver in which dlsym does not find one symbol: its name is changed in the
// string table that the loader compares with.
class MaimedDriver {
 public:
  explicit MaimedDriver(const std::string& path) : path_(path) {
    std::filesystem::copy_file(HMN_FAKE_NVML, path);
    std::ifstream in(path, std::ios::binary);
    image_.assign(std::istreambuf_iterator<char>(in), {});
  }

  void hide(const std::string& symbol) const { write(offset_of(symbol), '!'); }
  void show(const std::string& symbol) const { write(offset_of(symbol), symbol.front()); }

 private:
  [[nodiscard]] std::size_t offset_of(const std::string& symbol) const {
    Elf64_Ehdr header;
    std::memcpy(&header, image_.data(), sizeof header);
    const std::string name = '\0' + symbol + '\0';
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, image_.data() + header.e_shoff + i * sizeof section, sizeof section);
      if (section.sh_type != SHT_STRTAB || (section.sh_flags & SHF_ALLOC) == 0) continue;
      const std::size_t at = image_.find(name, section.sh_offset);
      if (at < section.sh_offset + section.sh_size) return at + 1;
    }
    FAIL("no such symbol: " << symbol);
    return 0;
  }

  void write(std::size_t at, char byte) const {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    REQUIRE(file.flush());
  }

  std::string path_;
  std::string image_;
};

using Values = std::map<std::string, std::string>;

template <class T>
void put(Values& all, const std::string& key, const std::optional<T>& value) {
  if (value) all[key] = std::to_string(*value);
}

void put(Values& all, const std::string& key, std::string_view text) {
  if (!text.empty()) all[key] = text;
}

void put_device(Values& all, const Device& d) {
  const std::string at = std::to_string(d.number) + ".";
  put(all, at + "name", d.name.view());
  put(all, at + "uuid", d.uuid.view());
  put(all, at + "pci", d.pci_bus_id.view());
  put(all, at + "driver", d.driver_version.view());
  put(all, at + "cuda", d.cuda_version_major);
  put(all, at + "capability", d.compute_capability_major);
  put(all, at + "architecture", d.architecture.view());
  put(all, at + "index", d.driver_index);
  put(all, at + "numa", d.numa_node);
  if (d.instance) all[at + "instance"] = std::to_string(d.instance->gpu);
  all[at + "form"] = std::to_string(static_cast<int>(d.form));
  all[at + "memory kind"] = std::to_string(static_cast<int>(d.memory_kind));
}

void put_telemetry(Values& all, const hmn::Telemetry& t) {
  put(all, "gpu busy", t.gpu_busy_percent);
  put(all, "memory busy", t.memory_busy_percent);
  put(all, "encoder", t.encoder_busy_percent);
  put(all, "decoder", t.decoder_busy_percent);
  put(all, "temperature", t.temperature_celsius);
  put(all, "memory temperature", t.memory_celsius);
  put(all, "power", t.power_watts);
  put(all, "power limit", t.power_limit_watts);
  put(all, "energy", t.energy_joules);
  put(all, "core clock", t.core_clock_mhz);
  put(all, "memory clock", t.memory_clock_mhz);
  put(all, "fan", t.fan_percent);
  put(all, "pcie generation", t.pcie_generation);
  put(all, "pcie width", t.pcie_width);
  put(all, "p state", t.p_state);
  put(all, "throttle", t.throttle);
}

Values read_all(const std::string& path) {
  Machine m(scenario, path);
  Values all;
  for (const Device& d : m.devices()) put_device(all, d);
  Pools memory;
  if (m.memory(0, memory)) {
    for (const Pool& p : memory.all()) {
      put(all, "total", p.total);
      put(all, "free", p.free);
      put(all, "used", p.used);
      put(all, "reserved", p.reserved);
    }
  }
  hmn::Telemetry t;
  if (m.source().telemetry(0, telemetry_field::all, t, m.reading)) put_telemetry(all, t);
  std::vector<Metric> numbers;
  require_ok(m.source().metrics(0, false, numbers, m.reading));
  for (const Metric& one : numbers) {
    if (one.id == MetricId::last_fault) put(all, "last fault", one.count);
  }
  std::vector<Usage> rows;
  if (m.source().processes(0, rows, m.reading)) {
    for (const Usage& u : rows) put(all, "pid " + std::to_string(u.pid), u.used);
  }
  for (const Diagnostic& d : m.reading.about()) {
    CHECK(d.why.code == Status::unsupported);
    CHECK(d.why.message.view().size() < 256);
  }
  return all;
}

// What differs from the full driver's values; "+" where a value came instead.
std::set<std::string> lost(const Values& full_values, const Values& now) {
  std::set<std::string> keys;
  for (const auto& [key, value] : full_values) {
    const auto found = now.find(key);
    if (found == now.end()) keys.insert(key);
    if (found != now.end() && found->second != value) keys.insert("other " + key);
  }
  for (const auto& [key, value] : now) {
    if (!full_values.contains(key)) keys.insert("+" + key);
  }
  return keys;
}

std::string listed(const std::set<std::string>& keys) {
  std::string all;
  for (const std::string& key : keys) all += key + "; ";
  return all;
}

struct Expectation {
  const char* symbol;
  std::set<std::string> costs;
};

const std::set<std::string> all_of_mig{"2.name",     "2.uuid",       "2.driver",
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
    {"nvmlDeviceGetMigMode", all_of_mig},
    {"nvmlDeviceGetMaxMigDeviceCount", all_of_mig},
    {"nvmlDeviceGetMigDeviceHandleByIndex", all_of_mig},
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

TEST_CASE("a missing function costs its own value") {
  const hmn_fake::Tree folder;
  const Values whole = read_all(HMN_FAKE_NVML);
  REQUIRE(whole.contains("memory temperature"));
  REQUIRE(whole.contains("2.instance"));
  REQUIRE(whole.at("last fault") == "79");
  const std::string path = folder.path("libnvidia-ml.so.1");
  const MaimedDriver driver(path);
  for (const Expectation& e : expectations) {
    const std::string symbol = e.symbol;
    CAPTURE(symbol);
    driver.hide(symbol);
    CHECK(listed(lost(whole, read_all(path))) == listed(e.costs));
    driver.show(symbol);
  }
  CHECK(listed(lost(whole, read_all(path))).empty());
}

TEST_CASE("with initialisation and identity alone the devices are still known") {
  const Values some =
      read_all(std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-init_only/libnvidia-ml.so.1");
  CHECK(some.contains("0.name"));
  CHECK(some.contains("0.uuid"));
  CHECK(some.contains("0.pci"));
  CHECK(!some.contains("total"));
  CHECK(!some.contains("pid 1001"));
}
