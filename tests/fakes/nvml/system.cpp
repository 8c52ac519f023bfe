// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

namespace fake_nvml {
namespace {

constexpr unsigned flag_no_gpus = 1;

void end_rules_until_init(const Scenario& scene) {
  for (const auto& r : scene.rules)
    if (r->until_init && r->matched.load() >= r->from) r->ended.store(true);
}

Status initialise(Call which, unsigned flags) {
  Visit v(which, Visit::not_needed);
  refresh(v.home(), false);
  if (!v.see_latest()) return v.done(error_unknown);
  if (!v.admitted()) return v.result();
  if (v.scene().devices.empty() && !(flags & flag_no_gpus) && v.scene().without_gpus != success)
    return v.done(v.scene().without_gpus);
  const std::scoped_lock lock(v.home().opening);
  end_rules_until_init(v.scene());
  v.home().init_flags.store(flags);
  if (v.home().sessions.load() == 0) v.home().generation.fetch_add(1);
  v.home().sessions.fetch_add(1);
  return v.done(success);
}

Status shut_down() {
  Visit v(Call::nvmlShutdown);
  if (!v.admitted()) return v.result();
  const std::scoped_lock lock(v.home().opening);
  if (v.home().sessions.load() > 0) v.home().sessions.fetch_sub(1);
  return v.done(success);
}

Status text(Call which, const std::string Scenario::*from, char* to, unsigned length) {
  Visit v(which, Visit::not_needed);
  if (!v.admitted()) return v.result();
  return v.done(write_text(v.scene().*from, to, length));
}

Status cuda_version(Call which, int* version) {
  Visit v(which, Visit::not_needed);
  if (!v.admitted()) return v.result();
  if (!version) return v.done(error_invalid_argument);
  put(version, v.scene().cuda_version);
  return v.done(success);
}

const std::string* name_of_process(const Scenario& scene, unsigned pid) {
  for (const auto& one : scene.devices)
    for (const auto& list : one->lists) {
      if (!list) continue;
      const auto it = list->names.find(pid);
      if (it != list->names.end()) return &it->second;
    }
  return nullptr;
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlInit() {
  return initialise(Call::nvmlInit, 0);
}
FAKE_NVML_EXPORT Status nvmlInit_v2() {
  return initialise(Call::nvmlInit_v2, 0);
}
FAKE_NVML_EXPORT Status nvmlInitWithFlags(unsigned flags) {
  return initialise(Call::nvmlInitWithFlags, flags);
}
FAKE_NVML_EXPORT Status nvmlShutdown() {
  return shut_down();
}

FAKE_NVML_EXPORT Status nvmlSystemGetDriverVersion(char* to, unsigned length) {
  Visit v(Call::nvmlSystemGetDriverVersion);
  if (!v.admitted()) return v.result();
  return v.done(write_text(v.scene().driver_version, to, length));
}

FAKE_NVML_EXPORT Status nvmlSystemGetNVMLVersion(char* to, unsigned length) {
  return text(Call::nvmlSystemGetNVMLVersion, &Scenario::nvml_version, to, length);
}

FAKE_NVML_EXPORT Status nvmlSystemGetCudaDriverVersion(int* version) {
  return cuda_version(Call::nvmlSystemGetCudaDriverVersion, version);
}

FAKE_NVML_EXPORT Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return cuda_version(Call::nvmlSystemGetCudaDriverVersion_v2, version);
}

FAKE_NVML_EXPORT Status nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  Visit v(Call::nvmlSystemGetProcessName);
  if (!v.admitted()) return v.result();
  const auto* found = name_of_process(v.scene(), pid);
  if (!found) return v.done(error_not_found);
  return v.done(write_text(*found, name, length));
}

FAKE_NVML_EXPORT const char* nvmlErrorString(Status code) {
  const Visit v(Call::nvmlErrorString, Visit::not_needed);
  switch (code) {
    case success:
      return "Success";
    case error_uninitialized:
      return "Uninitialized";
    case error_invalid_argument:
      return "Invalid Argument";
    case error_not_supported:
      return "Not Supported";
    case error_no_permission:
      return "Insufficient Permissions";
    case error_already_initialized:
      return "Already Initialized";
    case error_not_found:
      return "Not Found";
    case error_insufficient_size:
      return "Insufficient Size";
    case error_driver_not_loaded:
      return "Driver Not Loaded";
    case error_timeout:
      return "Timeout";
    case error_library_not_found:
      return "NVML Shared Library Not Found";
    case error_function_not_found:
      return "Function Not Found";
    case error_gpu_is_lost:
      return "GPU is lost";
    case error_reset_required:
      return "GPU requires reset";
    case error_operating_system:
      return "GPU access blocked by the operating system";
    case error_lib_rm_version_mismatch:
      return "Driver/library version mismatch";
    case error_in_use:
      return "In use by another client";
    case error_memory:
      return "Insufficient Memory";
    case error_no_data:
      return "No data";
    case error_argument_version_mismatch:
      return "Argument version mismatch";
    case error_deprecated:
      return "Requested functionality has been deprecated";
    case error_not_ready:
      return "Not ready";
    case error_gpu_not_found:
      return "No supported GPUs were found";
    default:
      return "Unknown Error";
  }
}
