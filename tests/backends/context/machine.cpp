// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <time.h>

#include <cstddef>
#include <filesystem>
#include <iterator>

#ifdef __SANITIZE_THREAD__
static constexpr std::ptrdiff_t resting_threads = 2;  // one is the sanitizer's
#else
static constexpr std::ptrdiff_t resting_threads = 1;
#endif

static std::ptrdiff_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

template <class F>
static F control(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

FakeNvml::FakeNvml(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
  REQUIRE(library_ != nullptr);
  reset();
}

FakeNvml::~FakeNvml() {
  settle();
  reset();
}

void FakeNvml::load(const std::string& scenario) const {
  const int said = control<int (*)(const char*)>(library_, "fake_nvml_load")(scenario.c_str());
  INFO(control<const char* (*)()>(library_, "fake_nvml_problem")());
  REQUIRE(said == 0);
}
unsigned long long FakeNvml::calls(const char* symbol) const {
  return control<unsigned long long (*)(const char*)>(library_, "fake_nvml_calls")(symbol);
}
int FakeNvml::initialized() const {
  return control<int (*)()>(library_, "fake_nvml_initialized")();
}
int FakeNvml::hanging() const {
  return control<int (*)()>(library_, "fake_nvml_hanging")();
}
int FakeNvml::inside() const {
  return control<int (*)()>(library_, "fake_nvml_inside")();
}
void FakeNvml::release() const {
  control<void (*)()>(library_, "fake_nvml_release")();
}
void FakeNvml::reset() const {
  control<void (*)()>(library_, "fake_nvml_reset")();
}
void FakeNvml::settle() const {
  CHECK(comes_true([this] {
    release();
    return thread_count() <= resting_threads;
  }));
}

Machine::Machine(const Options& o, bool with_nvml) {
  auto reported = sized<hmn_context_options>();
  reported.flags = o.flags;
  reported.deadline_ns = o.deadline_ns;
  reported.open_deadline_ns = o.open_deadline_ns;
  reported.stale_ns = o.stale_ns;
  reported.max_age_ns = o.max_age_ns;
  reported.idle_close_ns = o.idle_close_ns;
  reported.backends_off = o.backends_off;
  auto error = sized<hmn_error>();
  REQUIRE(hmn_context_create(&reported, &context_, &error) == HMN_OK);
  tree_.directory("sys/bus/pci/devices");
  REQUIRE(hmn_context_set_path(context_, HMN_PATH_SYS, tree_.sys().c_str(), &error) == HMN_OK);
  const std::string nvml = with_nvml ? HMN_FAKE_NVML : tree_.path("no/libnvidia-ml.so.1");
  REQUIRE(hmn_context_set_path(context_, HMN_PATH_NVML, nvml.c_str(), &error) == HMN_OK);
  const std::string none = tree_.path("no/nvidia-smi");
  REQUIRE(hmn_context_set_path(context_, HMN_PATH_NVIDIA_SMI, none.c_str(), &error) == HMN_OK);
}

Machine::~Machine() {
  destroy();
}

void Machine::destroy() {
  hmn_context_destroy(context_);
  context_ = nullptr;
}

TakenSnapshot::TakenSnapshot(hmn_context* context, hmn_flags collect, std::uint32_t deadline_ms) {
  auto asked = sized<hmn_snapshot_options>();
  asked.collect = collect;
  asked.deadline_ns = HMN_MILLISECONDS(deadline_ms);
  auto error = sized<hmn_error>();
  const hmn_status said = hmn_snapshot_take(context, &asked, &snapshot_, &error);
  INFO(error.message);
  REQUIRE(said == HMN_OK);
}

hmn_snapshot_info TakenSnapshot::info() const {
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  return info;
}

hmn_device TakenSnapshot::device(std::uint32_t i) const {
  auto device = sized<hmn_device>();
  REQUIRE(hmn_snapshot_device_at(snapshot_, i, &device, nullptr) == HMN_OK);
  return device;
}

template <class T, class Read>
static std::vector<T> all_of(const hmn_snapshot* snapshot, std::uint32_t count, Read read) {
  std::vector<T> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto one = sized<T>();
    REQUIRE(read(snapshot, i, &one, nullptr) == HMN_OK);
    all.push_back(one);
  }
  return all;
}

std::vector<hmn_pool> TakenSnapshot::pools() const {
  return all_of<hmn_pool>(snapshot_, info().pool_count, hmn_snapshot_pool_at);
}
std::vector<hmn_usage> TakenSnapshot::usages() const {
  return all_of<hmn_usage>(snapshot_, info().usage_count, hmn_snapshot_usage_at);
}
std::vector<hmn_diagnostic> TakenSnapshot::diagnostics() const {
  return all_of<hmn_diagnostic>(snapshot_, info().diagnostic_count, hmn_snapshot_diagnostic_at);
}

std::uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

std::string one_gpu(const std::string& rules, const std::string& device) {
  return R"({"driver_version": "550.163.01", "devices": [{
    "name": "NVIDIA L40S", "uuid": "GPU-11111111-2222-3333-4444-555555555555",
    "pci": {"address": "00000000:01:00.0"},
    "memory": {"total": 48318382080, "free": 37580963840, "used": 10737418240},
    "memory_v2": {"total": 48318382080, "reserved": 629145600, "free": 37580963840,
                  "used": 10108272640},
    "processes": {"compute": [{"pid": "self", "used": 536870912}], "graphics": []})" +
         device + "}]" + rules + "}";
}
