// SPDX-License-Identifier: MIT OR Apache-2.0
#include <array>

#include "scenario.hpp"

namespace fake_nvml {
namespace {

constexpr std::array<std::string_view, call_count> call_names = {
#define FAKE_NVML_CALL(name) #name,
#include "calls.def"
#undef FAKE_NVML_CALL
};

struct NamedStatus {
  std::string_view name;
  Status code;
};

constexpr NamedStatus status_names[] = {
    {"SUCCESS", success},
    {"UNINITIALIZED", error_uninitialized},
    {"INVALID_ARGUMENT", error_invalid_argument},
    {"NOT_SUPPORTED", error_not_supported},
    {"NO_PERMISSION", error_no_permission},
    {"ALREADY_INITIALIZED", error_already_initialized},
    {"NOT_FOUND", error_not_found},
    {"INSUFFICIENT_SIZE", error_insufficient_size},
    {"INSUFFICIENT_POWER", error_insufficient_power},
    {"DRIVER_NOT_LOADED", error_driver_not_loaded},
    {"TIMEOUT", error_timeout},
    {"IRQ_ISSUE", error_irq_issue},
    {"LIBRARY_NOT_FOUND", error_library_not_found},
    {"FUNCTION_NOT_FOUND", error_function_not_found},
    {"CORRUPTED_INFOROM", error_corrupted_inforom},
    {"GPU_IS_LOST", error_gpu_is_lost},
    {"RESET_REQUIRED", error_reset_required},
    {"OPERATING_SYSTEM", error_operating_system},
    {"LIB_RM_VERSION_MISMATCH", error_lib_rm_version_mismatch},
    {"IN_USE", error_in_use},
    {"MEMORY", error_memory},
    {"NO_DATA", error_no_data},
    {"VGPU_ECC_NOT_SUPPORTED", error_vgpu_ecc_not_supported},
    {"INSUFFICIENT_RESOURCES", error_insufficient_resources},
    {"FREQ_NOT_SUPPORTED", error_freq_not_supported},
    {"ARGUMENT_VERSION_MISMATCH", error_argument_version_mismatch},
    {"DEPRECATED", error_deprecated},
    {"NOT_READY", error_not_ready},
    {"GPU_NOT_FOUND", error_gpu_not_found},
    {"INVALID_STATE", error_invalid_state},
    {"UNKNOWN", error_unknown},
};

}  // namespace

std::string_view function_name(Call function) {
  return call_names[static_cast<unsigned>(function)];
}

std::optional<Call> find_function(std::string_view name) {
  for (unsigned i = 0; i < call_count; ++i)
    if (call_names[i] == name) return static_cast<Call>(i);
  return std::nullopt;
}

std::optional<Status> find_status(std::string_view name) {
  constexpr std::string_view prefix = "NVML_ERROR_";
  if (name == "NVML_SUCCESS") return success;
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  for (const auto& entry : status_names)
    if (entry.name == name) return entry.code;
  return std::nullopt;
}

}  // namespace fake_nvml
