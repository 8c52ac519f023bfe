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
F control(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

std::string joined(std::string_view members) {
  return members.empty() ? std::string() : ", " + std::string(members);
}

}  // namespace

FakeNvml::FakeNvml(const std::string& path)
    : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  REQUIRE_MESSAGE(library_ != nullptr, path);
  control<void (*)()>(library_, "fake_nvml_reset")();
}

FakeNvml::~FakeNvml() {
  control<void (*)()>(library_, "fake_nvml_release")();
  control<void (*)()>(library_, "fake_nvml_reset")();
  dlclose(library_);
}

void FakeNvml::load(const std::string& scenario) const {
  const int said = control<int (*)(const char*)>(library_, "fake_nvml_load")(scenario.c_str());
  INFO(control<const char* (*)()>(library_, "fake_nvml_problem")());
  REQUIRE(said == 0);
}

void FakeNvml::driver_reload() const {
  control<void (*)()>(library_, "fake_nvml_driver_reload")();
}

void FakeNvml::raise(unsigned device, unsigned long long xid) const {
  REQUIRE(control<int (*)(unsigned, unsigned long long)>(library_, "fake_nvml_raise")(device,
                                                                                      xid) == 0);
}

int FakeNvml::event_sets() const {
  return control<int (*)()>(library_, "fake_nvml_event_sets")();
}

unsigned long long FakeNvml::waited_ms() const {
  return control<unsigned long long (*)()>(library_, "fake_nvml_waited_ms")();
}

unsigned long long FakeNvml::calls(const char* symbol) const {
  return control<unsigned long long (*)(const char*)>(library_, "fake_nvml_calls")(symbol);
}

int FakeNvml::initialized() const {
  return control<int (*)()>(library_, "fake_nvml_initialized")();
}

unsigned FakeNvml::init_flags() const {
  return control<unsigned (*)()>(library_, "fake_nvml_init_flags")();
}

std::vector<hmn::Diagnostic> PlainReading::about(std::uint32_t subject) const {
  std::vector<hmn::Diagnostic> found;
  for (const hmn::Diagnostic& d : diagnostics) {
    const bool is_trace = (d.notes & hmn::note::trace) != 0;
    if (!is_trace && (subject == 0 || d.about == subject)) found.push_back(d);
  }
  return found;
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

std::string uuid_of(unsigned bus) {
  const std::string digit(1, static_cast<char>('0' + bus % 10));
  return "GPU-0000000" + digit + "-1111-2222-3333-444444444444";
}

hmn::Settings settings_of(const hmn_fake::Tree& tree) {
  hmn::Settings of;
  of.proc_root = tree.proc();
  of.sys_root = tree.sys();
  return of;
}

std::string gpu(unsigned bus, std::string_view device) {
  const std::string digit(1, static_cast<char>('0' + bus % 10));
  return R"({"name": "NVIDIA Fake )" + digit + R"(", "uuid": ")" + uuid_of(bus) +
         R"(", "pci": {"address": "00000000:0)" + digit +
         R"(:00.0", "device_id": "0x26B910DE", "subsystem_id": "0x185110DE"},)" +
         R"("compute_capability": [8, 9], "architecture": 8,)" +
         R"("bar1": {"total": "256 MiB", "free": "255 MiB", "used": "1 MiB"},
           "memory": {"total": "16 GiB", "free": "12 GiB", "used": "4 GiB"},
           "memory_v2": {"total": "16 GiB", "reserved": "512 MiB", "free": "12 GiB",
                         "used": "3584 MiB"})" +
         joined(device) + "}";
}

std::string machine_of(std::string_view devices, std::string_view more) {
  return R"({"driver_version": "550.163.01", "cuda_version": 12040, "devices": [)" +
         std::string(devices) + "]" + joined(more) + "}";
}

std::string one_gpu(std::string_view device, std::string_view more) {
  return machine_of(gpu(1, device), more);
}

void require_ok(const hmn::Result<void>& done) {
  if (!done) FAIL(done.why().message.view());
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
  auto done = source().devices(out, reading);
  listed_ = out;
  return done;
}

std::vector<hmn::Device> Machine::devices() {
  std::vector<hmn::Device> found;
  require_ok(prepare());
  require_ok(list(found));
  return found;
}

hmn::Result<void> Machine::memory(hmn::Slot number, hmn::Pools& out) {
  if (auto done = prepare(); !done) return done;
  auto done = source().memory(number, out, reading);
  return done ? hmn::keep_plausible(out, number, reading) : done;
}

hmn::Pool Machine::pool(hmn::Slot number) {
  hmn::Pools found;
  require_ok(memory(number, found));
  REQUIRE(found.all().size() == 1);
  return found.all().front();
}

std::vector<hmn::Usage> Machine::processes(hmn::Slot number) {
  std::vector<hmn::Usage> found;
  require_ok(prepare());
  require_ok(source().processes(number, found, reading));
  for (hmn::Usage& row : found) require_ok(kept(number, row, hmn::subject::processes));
  return found;
}

hmn::Result<void> Machine::process(hmn::Slot number, std::uint32_t pid, bool self,
                                   hmn::Usage& out) {
  if (auto done = prepare(); !done) return done;
  auto done = source().process(number, pid, self, out, reading);
  return done ? kept(number, out, self ? hmn::subject::self : hmn::subject::processes) : done;
}

hmn::Telemetry Machine::telemetry(hmn::Slot number, std::uint64_t fields) {
  hmn::Telemetry found;
  require_ok(prepare());
  require_ok(source().telemetry(number, fields, found, reading));
  require_ok(hmn::keep_plausible(found, number, reading));
  return found;
}

hmn::Result<void> Machine::kept(hmn::Slot number, hmn::Usage& row, std::uint32_t about) {
  hmn::Device of;
  for (const hmn::Device& d : listed_) {
    if (d.number == number) of = d;
  }
  of.number = number;
  return hmn::keep_plausible(row, of, about, reading);
}

const hmn::Usage& row_of(const std::vector<hmn::Usage>& rows, std::uint32_t pid) {
  for (const hmn::Usage& u : rows) {
    if (u.pid == pid) return u;
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
