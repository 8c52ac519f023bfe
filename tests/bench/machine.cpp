// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "bench.hpp"

namespace bench {

namespace {

constexpr const char* own_row = R"({"pid": "self", "used": 536870912})";
constexpr const char* foreign_row = R"({"pid": 3999999, "used": 536870912})";

std::string make_gpu(unsigned index, const std::string& rows) {
  char text[128];
  std::snprintf(
      text, sizeof text,
      R"({"uuid": "GPU-11111111-2222-3333-4444-%012x", "pci": {"address": "%08x:%02x:00.0"},)",
      index, index / 128, 1 + index % 128);
  return std::string(text) + R"("name": "NVIDIA L40S",
    "memory": {"total": 48318382080, "free": 37580963840, "used": 10737418240},
    "memory_v2": {"total": 48318382080, "reserved": 629145600, "free": 37580963840,
                  "used": 10108272640},
    "utilization": {"gpu": 64, "memory": 12}, "temperature": 45, "power_usage_mw": 58980,
    "processes": {"compute": [)" +
         rows + R"(], "graphics": []}})";
}

std::string make_gpu_list(unsigned count, const std::string& rows) {
  std::string devices = make_gpu(0, rows);
  for (unsigned i = 1; i < count; ++i) devices += "," + make_gpu(i, rows);
  return R"({"driver_version": "550.163.01", "devices": [)" + devices + "]}";
}

}  // namespace

std::string make_gpus(unsigned count, const std::string& extra_rows) {
  return make_gpu_list(count, own_row + extra_rows);
}

std::string make_foreign_gpus(unsigned count) {
  return make_gpu_list(count, foreign_row);
}

int read_links(const std::string& folder) {
  DIR* const folder_stream = opendir(folder.c_str());
  if (folder_stream == nullptr) return 0;
  int count = 0;
  char target[512];
  while (const dirent* const entry = readdir(folder_stream)) {
    if (readlinkat(dirfd(folder_stream), entry->d_name, target, sizeof target) >= 0) ++count;
  }
  closedir(folder_stream);
  return count;
}

double measure_concurrent_snapshot_us(hmn_context* context, unsigned threads) {
  using Clock = std::chrono::steady_clock;
  constexpr auto long_enough = std::chrono::milliseconds(200);
  std::atomic<bool> should_stop{false};
  std::atomic<long> snapshot_count{0};
  const auto take_snapshots = [&] {
    auto error = sized<hmn_error>();
    long own_count = 0;
    for (; !should_stop.load(std::memory_order_relaxed); ++own_count) {
      hmn_snapshot* snapshot = nullptr;
      require_ok(hmn_snapshot_take(context, nullptr, &snapshot, &error), error);
      hmn_snapshot_destroy(snapshot);
    }
    snapshot_count += own_count;
  };
  const auto start = Clock::now();
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(take_snapshots);
  std::this_thread::sleep_for(long_enough);
  should_stop = true;
  for (std::thread& worker : workers) worker.join();
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  return elapsed.count() / static_cast<double>(snapshot_count.load());
}

Machine::Machine(hmn_flags flags, const std::string& scenario) {
  void* fake = dlopen(HMN_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  const auto load =
      reinterpret_cast<int (*)(const char*)>(fake ? dlsym(fake, "fake_nvml_load") : nullptr);
  if (load == nullptr || load((scenario.empty() ? make_gpus(1) : scenario).c_str()) != 0) {
    std::fprintf(stderr, "the fake NVML did not take the scenario\n");
    std::abort();
  }
  hmn_context_options options = {};
  options.struct_size = sizeof options;
  options.flags = flags | HMN_CONTEXT_NO_SUBPROCESS;
  hmn_error error = {};
  error.struct_size = sizeof error;
  require_ok(hmn_context_create(&options, &context_, &error), error);
  require_ok(hmn_context_set_path(context_, HMN_PATH_NVML, HMN_FAKE_NVML, &error), error);
}

}  // namespace bench
