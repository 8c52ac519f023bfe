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
constexpr const char* row_of_another = R"({"pid": 3999999, "used": 536870912})";

std::string gpu(unsigned index, const std::string& rows) {
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

std::string gpus_with(unsigned count, const std::string& rows) {
  std::string devices = gpu(0, rows);
  for (unsigned i = 1; i < count; ++i) devices += "," + gpu(i, rows);
  return R"({"driver_version": "550.163.01", "devices": [)" + devices + "]}";
}

}  // namespace

std::string gpus(unsigned count, const std::string& more) {
  return gpus_with(count, own_row + more);
}

std::string gpus_of_others(unsigned count) {
  return gpus_with(count, row_of_another);
}

int read_links(const std::string& folder) {
  DIR* const all = opendir(folder.c_str());
  if (all == nullptr) return 0;
  int count = 0;
  char target[512];
  while (const dirent* const one = readdir(all)) {
    if (readlinkat(dirfd(all), one->d_name, target, sizeof target) >= 0) ++count;
  }
  closedir(all);
  return count;
}

double snapshot_together_us(hmn_context* context, unsigned threads) {
  using Clock = std::chrono::steady_clock;
  constexpr auto long_enough = std::chrono::milliseconds(200);
  std::atomic<bool> is_over{false};
  std::atomic<long> taken{0};
  const auto take = [&] {
    auto error = sized<hmn_error>();
    long own = 0;
    for (; !is_over.load(std::memory_order_relaxed); ++own) {
      hmn_snapshot* snapshot = nullptr;
      must(hmn_snapshot_take(context, nullptr, &snapshot, &error), error);
      hmn_snapshot_destroy(snapshot);
    }
    taken += own;
  };
  const auto begun = Clock::now();
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(take);
  std::this_thread::sleep_for(long_enough);
  is_over = true;
  for (std::thread& each : all) each.join();
  const std::chrono::duration<double, std::micro> took = Clock::now() - begun;
  return took.count() / static_cast<double>(taken.load());
}

Machine::Machine(hmn_flags flags, const std::string& scenario) {
  void* fake = dlopen(HMN_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  const auto load =
      reinterpret_cast<int (*)(const char*)>(fake ? dlsym(fake, "fake_nvml_load") : nullptr);
  if (load == nullptr || load((scenario.empty() ? gpus(1) : scenario).c_str()) != 0) {
    std::fprintf(stderr, "the fake NVML did not take the scenario\n");
    std::abort();
  }
  hmn_context_options options = {};
  options.struct_size = sizeof options;
  options.flags = flags | HMN_CONTEXT_NO_SUBPROCESS;
  hmn_error error = {};
  error.struct_size = sizeof error;
  must(hmn_context_create(&options, &context_, &error), error);
  must(hmn_context_set_path(context_, HMN_PATH_NVML, HMN_FAKE_NVML, &error), error);
}

}  // namespace bench
