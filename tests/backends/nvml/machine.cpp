// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <utility>

#include "core/query.hpp"
#include "source/registry.hpp"

namespace {

template <class F>
F find_control(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

std::string format_members(std::string_view members) {
  return members.empty() ? std::string() : ", " + std::string(members);
}

}  // namespace

FakeNvml::FakeNvml(const std::string& path)
    : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  REQUIRE_MESSAGE(library_ != nullptr, path);
  find_control<void (*)()>(library_, "fake_nvml_reset")();
}

FakeNvml::~FakeNvml() {
  find_control<void (*)()>(library_, "fake_nvml_release")();
  find_control<void (*)()>(library_, "fake_nvml_reset")();
  dlclose(library_);
}

void FakeNvml::load(const std::string& scenario) const {
  const int code = find_control<int (*)(const char*)>(library_, "fake_nvml_load")(scenario.c_str());
  INFO(find_control<const char* (*)()>(library_, "fake_nvml_problem")());
  REQUIRE(code == 0);
}

void FakeNvml::driver_reload() const {
  find_control<void (*)()>(library_, "fake_nvml_driver_reload")();
}

void FakeNvml::raise(unsigned device, unsigned long long xid) const {
  REQUIRE(find_control<int (*)(unsigned, unsigned long long)>(library_, "fake_nvml_raise")(
              device, xid) == 0);
}

int FakeNvml::event_sets() const {
  return find_control<int (*)()>(library_, "fake_nvml_event_sets")();
}

unsigned long long FakeNvml::waited_ms() const {
  return find_control<unsigned long long (*)()>(library_, "fake_nvml_waited_ms")();
}

unsigned long long FakeNvml::calls(const char* symbol) const {
  return find_control<unsigned long long (*)(const char*)>(library_, "fake_nvml_calls")(symbol);
}

int FakeNvml::initialized() const {
  return find_control<int (*)()>(library_, "fake_nvml_initialized")();
}

unsigned FakeNvml::init_flags() const {
  return find_control<unsigned (*)()>(library_, "fake_nvml_init_flags")();
}

std::vector<hmn::Diagnostic> PlainReading::find_diagnostics(std::uint32_t subject) const {
  std::vector<hmn::Diagnostic> matches;
  for (const hmn::Diagnostic& diagnostic : diagnostics) {
    const bool is_trace = (diagnostic.notes & hmn::note::trace) != 0;
    if (!is_trace && (subject == 0 || diagnostic.subject == subject)) matches.push_back(diagnostic);
  }
  return matches;
}

const char* const every_value = R"(
  "utilization": {"gpu": 64, "memory": 12}, "encoder": {"percent": 7, "period_us": 167000},
  "decoder": 9, "temperature": 45,
  "temperature_thresholds": {"shutdown": 97, "slowdown": 94, "memory_max": 105},
  "power_usage_mw": 58980, "power_limit_mw": 400000, "enforced_power_limit_mw": 350000,
  "default_power_limit_mw": 400000, "power_limits_mw": {"min": 100000, "max": 450000},
  "energy_mj": 123456789,
  "clocks_mhz": {"graphics": 2520, "sm": 2519, "memory": 9001, "video": 1965},
  "max_clocks_mhz": {"graphics": 3105, "sm": 3104, "memory": 10501, "video": 2415},
  "fans": [31, 33], "pstate": 2,
  "pcie": {"gen": 4, "width": 16, "replays": 5}, "clocks_event_reasons": 4,
  "ecc_errors": {"corrected_volatile": 1, "corrected_aggregate": 20, "uncorrected_volatile": 0,
                 "uncorrected_aggregate": 3},
  "remapped_rows": {"corrected": 1, "uncorrected": 2, "pending": 1, "failed": 0},
  "fields": {"82": 61, "186": 60500, "185": 59000, "197": {"type": "ulonglong", "value": 7000000},
             "198": {"type": "ulonglong", "value": 9000000}, "74": 81234000000, "75": 0, "76": 5,
             "77": 6, "91": 2, "138": 10, "139": 11}, "event_types": 8, "xids": [31, 79])";

std::string make_uuid(unsigned bus) {
  const std::string digit(1, static_cast<char>('0' + bus % 10));
  return "GPU-0000000" + digit + "-1111-2222-3333-444444444444";
}

hmn::Settings make_settings(const hmn_fake::Tree& tree) {
  hmn::Settings settings;
  settings.proc_root = tree.proc();
  settings.sys_root = tree.sys();
  return settings;
}

std::string gpu(unsigned bus, std::string_view device) {
  const std::string digit(1, static_cast<char>('0' + bus % 10));
  return R"({"name": "NVIDIA Fake )" + digit + R"(", "uuid": ")" + make_uuid(bus) +
         R"(", "pci": {"address": "00000000:0)" + digit +
         R"(:00.0", "device_id": "0x26B910DE", "subsystem_id": "0x185110DE"},)" +
         R"("compute_capability": [8, 9], "architecture": 8,)" +
         R"("bar1": {"total": "256 MiB", "free": "255 MiB", "used": "1 MiB"},
           "memory": {"total": "16 GiB", "free": "12 GiB", "used": "4 GiB"},
           "memory_v2": {"total": "16 GiB", "reserved": "512 MiB", "free": "12 GiB",
                         "used": "3584 MiB"})" +
         format_members(device) + "}";
}

std::string make_scenario(std::string_view devices, std::string_view more) {
  return R"({"driver_version": "550.163.01", "cuda_version": 12040, "devices": [)" +
         std::string(devices) + "]" + format_members(more) + "}";
}

std::string one_gpu(std::string_view device, std::string_view more) {
  return make_scenario(gpu(1, device), more);
}

void require_ok(const hmn::Result<void>& result) {
  if (!result) FAIL(result.failure().message.view());
}

Machine::Machine(const std::string& scenario, const std::string& path) : driver(path) {
  driver.load(scenario);
  settings.nvml_path = path;
  settings.proc_root = tree.proc();
  settings.sys_root = tree.sys();
  tree.directory("sys/bus/pci/devices");
  hmn_fake::set_meminfo(tree, {.total = 64 * mib});
  add_self({"/dev/null"}, initial_namespace);
}

hmn::DeviceSource& Machine::source() {
  if (!source_) source_ = hmn::make_nvml(settings);
  return *source_;
}

hmn::Result<void> Machine::prepare() {
  reading.diagnostics.clear();
  return source().prepare(reading);
}

hmn::Result<void> Machine::list(std::vector<hmn::Device>& out) {
  auto result = source().devices(out, reading);
  devices_ = out;
  return result;
}

std::vector<hmn::Device> Machine::devices() {
  std::vector<hmn::Device> all;
  require_ok(prepare());
  require_ok(list(all));
  return all;
}

hmn::Result<void> Machine::memory(hmn::Slot number, hmn::PoolList& out) {
  if (auto result = prepare(); !result) return result;
  auto result = source().memory(number, out, reading);
  return result ? hmn::keep_plausible(out, number, reading) : result;
}

hmn::Pool Machine::pool(hmn::Slot number) {
  hmn::PoolList pools;
  require_ok(memory(number, pools));
  REQUIRE(pools.all().size() == 1);
  return pools.all().front();
}

std::vector<hmn::Usage> Machine::processes(hmn::Slot number) {
  std::vector<hmn::Usage> rows;
  require_ok(prepare());
  require_ok(source().processes(number, rows, reading));
  for (hmn::Usage& row : rows) require_ok(drop_impossible(number, row, hmn::subject::processes));
  return rows;
}

hmn::Result<void> Machine::process(hmn::Slot number, std::uint32_t pid, bool self,
                                   hmn::Usage& out) {
  if (auto result = prepare(); !result) return result;
  auto result = source().process(number, pid, self, out, reading);
  return result ? drop_impossible(number, out, self ? hmn::subject::self : hmn::subject::processes)
                : result;
}

hmn::Telemetry Machine::telemetry(hmn::Slot number, std::uint64_t fields) {
  hmn::Telemetry values;
  require_ok(prepare());
  require_ok(source().telemetry(number, fields, values, reading));
  require_ok(hmn::keep_plausible(values, number, reading));
  return values;
}

hmn::Result<void> Machine::drop_impossible(hmn::Slot number, hmn::Usage& row,
                                           std::uint32_t subject) {
  hmn::Device device;
  for (const hmn::Device& candidate : devices_) {
    if (candidate.slot == number) device = candidate;
  }
  device.slot = number;
  return hmn::keep_plausible(row, device, subject, reading);
}

const hmn::Usage& find_row(const std::vector<hmn::Usage>& rows, std::uint32_t pid) {
  for (const hmn::Usage& usage : rows) {
    if (usage.pid == pid) return usage;
  }
  FAIL("no row of " << pid);
  return rows.front();
}

void Machine::add_process(std::uint32_t pid, const std::vector<std::string>& descriptors) const {
  hmn_fake::Process values = hmn_fake::simple_process(pid, "fake", 100, 1000);
  int number = 0;
  for (const std::string& target : descriptors) values.descriptors[number++] = target;
  hmn_fake::add_process(tree, values);
}

void Machine::add_self(const std::vector<std::string>& descriptors,
                       std::uint64_t pid_namespace) const {
  const auto pid = static_cast<std::uint32_t>(getpid());
  tree.remove("proc/" + std::to_string(pid));
  add_process(pid, descriptors);
  hmn_fake::set_self(tree, pid);
  hmn_fake::set_pid_namespace(tree, pid, pid_namespace);
}
