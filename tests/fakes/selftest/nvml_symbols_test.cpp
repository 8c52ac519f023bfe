// SPDX-License-Identifier: MIT OR Apache-2.0
#include "loaded_nvml.hpp"

using selftest::LoadedNvml;

namespace {

constexpr const char* every_symbol[] = {
#define FAKE_NVML_CALL(name) #name,
#include "../nvml/calls.def"
#undef FAKE_NVML_CALL
};

unsigned symbols_in(const LoadedNvml& nvml) {
  unsigned count = 0;
  for (const char* one : every_symbol) count += nvml.has(one);
  return count;
}

}  // namespace

TEST_CASE("nvml_symbols: the full fake has them all") {
  const LoadedNvml nvml;
  CHECK(symbols_in(nvml) == std::size(every_symbol));
}

TEST_CASE("nvml_symbols: a removed one is not found by dlsym and the others are") {
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
  for (const auto& one : cases) {
    CAPTURE(one.variant);
    const LoadedNvml nvml(one.variant);
    CHECK_FALSE(nvml.has(one.absent));
    CHECK(nvml.has(one.present));
    CHECK(symbols_in(nvml) == std::size(every_symbol) - one.removed);
  }
}

TEST_CASE("nvml_symbols: init_only can enumerate and nothing more") {
  const LoadedNvml nvml("nvml-init_only");
  CHECK(symbols_in(nvml) == 8);
  nvml.start(R"({"devices": [{"name": "Old GPU"}]})");
  char name[64];
  CHECK(nvml("nvmlDeviceGetName", nvml.gpu(), &name[0], 64U) == fake_nvml::success);
  CHECK(std::string(name) == "Old GPU");
}

TEST_CASE("nvml_symbols: variants in one process have nothing in common") {
  const LoadedNvml one, other("nvml-no_v2_memory");
  one.start(R"({"devices": [{}]})");
  CHECK(one.sessions() == 1);
  CHECK(other.sessions() == 0);
  CHECK(other("nvmlInit_v2") == fake_nvml::error_driver_not_loaded);
}
