// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

namespace fake_nvml {
namespace {

constexpr unsigned flag_no_gpus = 1;

void end_rules_until_init(const Scenario& scene) {
  for (const auto& rule : scene.rules)
    if (rule->until_init && rule->match_count.load() >= rule->first_call)
      rule->is_ended.store(true);
}

Status initialise(Call function, unsigned flags) {
  Visit visit(function, Visit::not_needed);
  refresh(visit.driver(), false);
  if (!visit.reload()) return visit.finish(error_unknown);
  if (!visit.admit()) return visit.result();
  if (visit.scene().devices.empty() && !(flags & flag_no_gpus) &&
      visit.scene().without_gpus != success)
    return visit.finish(visit.scene().without_gpus);
  const std::scoped_lock lock(visit.driver().opening);
  end_rules_until_init(visit.scene());
  visit.driver().init_flags.store(flags);
  if (visit.driver().sessions.load() == 0) visit.driver().generation.fetch_add(1);
  visit.driver().sessions.fetch_add(1);
  return visit.finish(success);
}

Status shut_down() {
  Visit visit(Call::nvmlShutdown);
  if (!visit.admit()) return visit.result();
  const std::scoped_lock lock(visit.driver().opening);
  if (visit.driver().sessions.load() > 0) visit.driver().sessions.fetch_sub(1);
  return visit.finish(success);
}

Status read_version(Call function, const std::string Scenario::*member, char* buffer,
                    unsigned length) {
  Visit visit(function, Visit::not_needed);
  if (!visit.admit()) return visit.result();
  return visit.finish(write_text(visit.scene().*member, buffer, length));
}

Status read_cuda_version(Call function, int* version) {
  Visit visit(function, Visit::not_needed);
  if (!visit.admit()) return visit.result();
  if (!version) return visit.finish(error_invalid_argument);
  write_value(version, visit.scene().cuda_version);
  return visit.finish(success);
}

const std::string* find_process_name(const Scenario& scene, unsigned pid) {
  for (const auto& device : scene.devices)
    for (const auto& list : device->lists) {
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

FAKE_NVML_EXPORT Status nvmlSystemGetDriverVersion(char* text, unsigned length) {
  Visit visit(Call::nvmlSystemGetDriverVersion);
  if (!visit.admit()) return visit.result();
  return visit.finish(write_text(visit.scene().driver_version, text, length));
}

FAKE_NVML_EXPORT Status nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return read_version(Call::nvmlSystemGetNVMLVersion, &Scenario::nvml_version, text, length);
}

FAKE_NVML_EXPORT Status nvmlSystemGetCudaDriverVersion(int* version) {
  return read_cuda_version(Call::nvmlSystemGetCudaDriverVersion, version);
}

FAKE_NVML_EXPORT Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return read_cuda_version(Call::nvmlSystemGetCudaDriverVersion_v2, version);
}

FAKE_NVML_EXPORT Status nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  Visit visit(Call::nvmlSystemGetProcessName);
  if (!visit.admit()) return visit.result();
  const auto* process_name = find_process_name(visit.scene(), pid);
  if (!process_name) return visit.finish(error_not_found);
  return visit.finish(write_text(*process_name, name, length));
}

FAKE_NVML_EXPORT const char* nvmlErrorString(Status code) {
  const Visit visit(Call::nvmlErrorString, Visit::not_needed);
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
