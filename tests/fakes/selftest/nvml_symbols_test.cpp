// SPDX-License-Identifier: MIT OR Apache-2.0
#include "loaded_nvml.hpp"

using selftest::LoadedNvml;

namespace {

constexpr const char* every_symbol[] = {
#define FAKE_NVML_CALL(name) #name,
#include "../nvml/calls.def"
#undef FAKE_NVML_CALL
};

unsigned count_symbols(const LoadedNvml& nvml) {
  unsigned count = 0;
  for (const char* symbol : every_symbol) count += nvml.has(symbol);
  return count;
}

}  // namespace

TEST_CASE("nvml_symbols: the full fake exports every symbol") {
  const LoadedNvml nvml;
  CHECK(count_symbols(nvml) == std::size(every_symbol));
}

TEST_CASE("nvml_symbols: a removed symbol is not found by dlsym, and the others are") {
  const struct {
    const char* variant;
    const char* absent;
    const char* present;
    std::size_t removed;
  } cases[] = {
      {"nvml-no_v2_memory", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMemoryInfo", 1},
      {"nvml-no_v3_processes", "nvmlDeviceGetComputeRunningProcesses_v3",
       "nvmlDeviceGetComputeRunningProcesses_v2", 3},
      {"fake_nvml_no_uuid", "nvmlDeviceGetUUID", "nvmlDeviceGetName", 1},
      {"nvml-no_init_with_flags", "nvmlInitWithFlags", "nvmlInit_v2", 1},
      {"nvml-only_v1", "nvmlDeviceGetComputeRunningProcesses_v2",
       "nvmlDeviceGetComputeRunningProcesses", 16},
  };
  for (const auto& row : cases) {
    CAPTURE(row.variant);
    const LoadedNvml nvml(row.variant);
    CHECK_FALSE(nvml.has(row.absent));
    CHECK(nvml.has(row.present));
    CHECK(count_symbols(nvml) == std::size(every_symbol) - row.removed);
  }
}

TEST_CASE("nvml_symbols: init_only can enumerate devices and nothing more") {
  const LoadedNvml nvml("nvml-init_only");
  CHECK(count_symbols(nvml) == 8);
  nvml.start(R"({"devices": [{"name": "Old GPU"}]})");
  char name[64];
  CHECK(nvml("nvmlDeviceGetName", nvml.gpu(), &name[0], 64U) == fake_nvml::success);
  CHECK(std::string(name) == "Old GPU");
}

TEST_CASE("nvml_symbols: variants in one process do not share state") {
  const LoadedNvml first, second("nvml-no_v2_memory");
  first.start(R"({"devices": [{}]})");
  CHECK(first.sessions() == 1);
  CHECK(second.sessions() == 0);
  CHECK(second("nvmlInit_v2") == fake_nvml::error_driver_not_loaded);
}
