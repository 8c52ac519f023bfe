// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dlfcn.h>

#include "bench.hpp"

namespace bench {

namespace {

std::string gpu(unsigned index, const std::string& more) {
  char text[128];
  std::snprintf(
      text, sizeof text,
      R"({"uuid": "GPU-11111111-2222-3333-4444-%012x", "pci": {"address": "00000000:%02x:00.0"},)",
      index, 1 + index);
  return std::string(text) + R"("name": "NVIDIA L40S",
    "memory": {"total": 48318382080, "free": 37580963840, "used": 10737418240},
    "memory_v2": {"total": 48318382080, "reserved": 629145600, "free": 37580963840,
                  "used": 10108272640},
    "utilization": {"gpu": 64, "memory": 12}, "temperature": 45, "power_usage_mw": 58980,
    "processes": {"compute": [{"pid": "self", "used": 536870912})" +
         more + R"(], "graphics": []}})";
}

}  // namespace

std::string gpus(unsigned count, const std::string& more) {
  std::string devices = gpu(0, more);
  for (unsigned i = 1; i < count; ++i) devices += "," + gpu(i, more);
  return R"({"driver_version": "550.163.01", "devices": [)" + devices + "]}";
}

machine::machine(hmn_flags flags, const std::string& scenario) {
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
