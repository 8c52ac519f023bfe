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
static constexpr std::ptrdiff_t idle_threads = 1;
#endif

static std::ptrdiff_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

template <class F>
static F find_control(void* library, const char* name) {
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
  const int code = find_control<int (*)(const char*)>(library_, "fake_nvml_load")(scenario.c_str());
  INFO(find_control<const char* (*)()>(library_, "fake_nvml_problem")());
  REQUIRE(code == 0);
}
unsigned long long FakeNvml::calls(const char* symbol) const {
  return find_control<unsigned long long (*)(const char*)>(library_, "fake_nvml_calls")(symbol);
}
int FakeNvml::initialized() const {
  return find_control<int (*)()>(library_, "fake_nvml_initialized")();
}
int FakeNvml::hanging() const {
  return find_control<int (*)()>(library_, "fake_nvml_hanging")();
}
int FakeNvml::inside() const {
  return find_control<int (*)()>(library_, "fake_nvml_inside")();
}
void FakeNvml::release() const {
  find_control<void (*)()>(library_, "fake_nvml_release")();
}
void FakeNvml::reset() const {
  find_control<void (*)()>(library_, "fake_nvml_reset")();
}
void FakeNvml::settle() const {
  CHECK(becomes_true([this] {
    release();
    return thread_count() <= idle_threads;
  }));
}

Machine::Machine(const Options& options, bool with_nvml) {
  auto context_options = sized<hmn_context_options>();
  context_options.flags = options.flags;
  context_options.deadline_ns = options.deadline_ns;
  context_options.open_deadline_ns = options.open_deadline_ns;
  context_options.stale_ns = options.stale_ns;
  context_options.max_age_ns = options.max_age_ns;
  context_options.idle_close_ns = options.idle_close_ns;
  context_options.backends_off = options.backends_off;
  auto error = sized<hmn_error>();
  REQUIRE(hmn_context_create(&context_options, &context_, &error) == HMN_OK);
  tree_.directory("sys/bus/pci/devices");
  REQUIRE(hmn_context_set_path(context_, HMN_PATH_SYS, tree_.sys().c_str(), &error) == HMN_OK);
  const std::string nvml = with_nvml ? HMN_FAKE_NVML : tree_.path("no/libnvidia-ml.so.1");
  REQUIRE(hmn_context_set_path(context_, HMN_PATH_NVML, nvml.c_str(), &error) == HMN_OK);
  const std::string missing_path = tree_.path("no/nvidia-smi");
  REQUIRE(hmn_context_set_path(context_, HMN_PATH_NVIDIA_SMI, missing_path.c_str(), &error) ==
          HMN_OK);
}

Machine::~Machine() {
  destroy();
}

void Machine::destroy() {
  hmn_context_destroy(context_);
  context_ = nullptr;
}

Snapshot::Snapshot(hmn_context* context, hmn_flags collect, std::uint32_t deadline_ms) {
  auto options = sized<hmn_snapshot_options>();
  options.collect = collect;
  options.deadline_ns = HMN_MILLISECONDS(deadline_ms);
  auto error = sized<hmn_error>();
  const hmn_status status = hmn_snapshot_take(context, &options, &snapshot_, &error);
  INFO(error.message);
  REQUIRE(status == HMN_OK);
}

hmn_snapshot_info Snapshot::info() const {
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  return info;
}

hmn_device Snapshot::device(std::uint32_t i) const {
  auto device = sized<hmn_device>();
  REQUIRE(hmn_snapshot_device_at(snapshot_, i, &device, nullptr) == HMN_OK);
  return device;
}

template <class T, class Read>
static std::vector<T> read_records(const hmn_snapshot* snapshot, std::uint32_t count, Read read) {
  std::vector<T> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto record = sized<T>();
    REQUIRE(read(snapshot, i, &record, nullptr) == HMN_OK);
    all.push_back(record);
  }
  return all;
}

std::vector<hmn_pool> Snapshot::pools() const {
  return read_records<hmn_pool>(snapshot_, info().pool_count, hmn_snapshot_pool_at);
}
std::vector<hmn_usage> Snapshot::usages() const {
  return read_records<hmn_usage>(snapshot_, info().usage_count, hmn_snapshot_usage_at);
}
std::vector<hmn_diagnostic> Snapshot::diagnostics() const {
  return read_records<hmn_diagnostic>(snapshot_, info().diagnostic_count,
                                      hmn_snapshot_diagnostic_at);
}

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
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
