// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The layouts declared here against those measured with the vendor's header.
#include "backends/nvml/abi.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

using namespace hmn::nvml;

namespace {

struct member {
  const char* theirs;
  std::size_t offset;
  std::size_t size;
};

#define MEMBER(type, ours, theirs)                    \
  member {                                            \
#theirs, offsetof(type, ours), sizeof(type::ours) \
  }

nlohmann::json reference() {
  std::ifstream in(std::filesystem::path(HMN_REFERENCE_DIR) / "nvml-abi.json");
  return in ? nlohmann::json::parse(in) : nlohmann::json();
}

void check_struct(const nlohmann::json& all, const char* name, std::size_t size,
                  std::initializer_list<member> members) {
  CAPTURE(name);
  const auto& theirs = all.at("structs").at(name);
  CHECK(theirs.at("size") == size);
  CHECK(theirs.at("offsets").size() == members.size());
  for (const member& m : members) {
    CAPTURE(m.theirs);
    CHECK(theirs.at("offsets").at(m.theirs).at(0) == m.offset);
    CHECK(theirs.at("offsets").at(m.theirs).at(1) == m.size);
  }
}

}  // namespace

TEST_CASE("structs are laid out as the vendor's") {
  const auto all = reference();
  if (all.is_null()) {
    MESSAGE("skipped: no reference table");
    return;
  }
  check_struct(all, "nvmlMemory_t", sizeof(memory_v1),
               {MEMBER(memory_v1, total, total), MEMBER(memory_v1, free, free),
                MEMBER(memory_v1, used, used)});
  check_struct(all, "nvmlMemory_v2_t", sizeof(memory_v2),
               {MEMBER(memory_v2, version, version), MEMBER(memory_v2, total, total),
                MEMBER(memory_v2, reserved, reserved), MEMBER(memory_v2, free, free),
                MEMBER(memory_v2, used, used)});
  check_struct(all, "nvmlBAR1Memory_t", sizeof(bar1_memory),
               {MEMBER(bar1_memory, total, bar1Total), MEMBER(bar1_memory, free, bar1Free),
                MEMBER(bar1_memory, used, bar1Used)});
  check_struct(all, "nvmlProcessInfo_v1_t", sizeof(process_v1),
               {MEMBER(process_v1, pid, pid), MEMBER(process_v1, used, usedGpuMemory)});
  check_struct(all, "nvmlProcessInfo_v2_t", sizeof(process_v2),
               {MEMBER(process_v2, pid, pid), MEMBER(process_v2, used, usedGpuMemory),
                MEMBER(process_v2, gpu_instance, gpuInstanceId),
                MEMBER(process_v2, compute_instance, computeInstanceId)});
  check_struct(all, "nvmlProcessDetail_v1_t", sizeof(process_detail),
               {MEMBER(process_detail, pid, pid), MEMBER(process_detail, used, usedGpuMemory),
                MEMBER(process_detail, gpu_instance, gpuInstanceId),
                MEMBER(process_detail, compute_instance, computeInstanceId),
                MEMBER(process_detail, protected_used, usedGpuCcProtectedMemory)});
  check_struct(
      all, "nvmlProcessUtilizationSample_t", sizeof(process_sample),
      {MEMBER(process_sample, pid, pid), MEMBER(process_sample, time_us, timeStamp),
       MEMBER(process_sample, sm, smUtil), MEMBER(process_sample, memory, memUtil),
       MEMBER(process_sample, encoder, encUtil), MEMBER(process_sample, decoder, decUtil)});
  check_struct(all, "nvmlUtilization_t", sizeof(utilization),
               {MEMBER(utilization, gpu, gpu), MEMBER(utilization, memory, memory)});
  check_struct(all, "nvmlPciInfo_t", sizeof(pci_info),
               {MEMBER(pci_info, bus_id_legacy, busIdLegacy), MEMBER(pci_info, domain, domain),
                MEMBER(pci_info, bus, bus), MEMBER(pci_info, device, device),
                MEMBER(pci_info, device_id, pciDeviceId),
                MEMBER(pci_info, subsystem_id, pciSubSystemId), MEMBER(pci_info, bus_id, busId)});
  check_struct(all, "nvmlFieldValue_t", sizeof(field_value),
               {MEMBER(field_value, id, fieldId), MEMBER(field_value, scope, scopeId),
                MEMBER(field_value, timestamp, timestamp),
                MEMBER(field_value, latency_us, latencyUsec), MEMBER(field_value, type, valueType),
                MEMBER(field_value, result, nvmlReturn), MEMBER(field_value, bits, value)});
}

TEST_CASE("constants are the vendor's") {
  const auto all = reference();
  if (all.is_null()) {
    MESSAGE("skipped: no reference table");
    return;
  }
  const auto& constants = all.at("constants");
  CHECK(constants.at("nvmlMemory_v2") == memory_v2_version);
  CHECK(constants.at("NVML_VALUE_NOT_AVAILABLE") == value_not_available);
  CHECK(constants.at("NVML_DEVICE_NAME_V2_BUFFER_SIZE") == name_capacity);
  CHECK(constants.at("NVML_DEVICE_UUID_V2_BUFFER_SIZE") == uuid_capacity);
  CHECK(constants.at("NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE") == version_capacity);
  CHECK(constants.at("NVML_TEMPERATURE_GPU") == temperature_gpu);
  CHECK(constants.at("NVML_CLOCK_GRAPHICS") == clock_graphics);
  CHECK(constants.at("NVML_CLOCK_MEM") == clock_memory);
  CHECK(constants.at("NVML_INIT_FLAG_NO_ATTACH") == init_no_attach);
  CHECK(constants.at("NVML_DEVICE_MIG_ENABLE") == mig_enabled);
  CHECK(constants.at("NVML_FI_DEV_MEMORY_TEMP") == field_memory_temperature);
}

TEST_CASE("return codes are the vendor's") {
  const auto all = reference();
  if (all.is_null()) {
    MESSAGE("skipped: no reference table");
    return;
  }
  const std::pair<const char*, code> ours[] = {
      {"NVML_SUCCESS", success},
      {"NVML_ERROR_UNINITIALIZED", uninitialized},
      {"NVML_ERROR_INVALID_ARGUMENT", invalid_argument},
      {"NVML_ERROR_NOT_SUPPORTED", not_supported},
      {"NVML_ERROR_NO_PERMISSION", no_permission},
      {"NVML_ERROR_ALREADY_INITIALIZED", already_initialized},
      {"NVML_ERROR_NOT_FOUND", not_found},
      {"NVML_ERROR_INSUFFICIENT_SIZE", insufficient_size},
      {"NVML_ERROR_INSUFFICIENT_POWER", insufficient_power},
      {"NVML_ERROR_DRIVER_NOT_LOADED", driver_not_loaded},
      {"NVML_ERROR_TIMEOUT", timed_out},
      {"NVML_ERROR_IRQ_ISSUE", irq_issue},
      {"NVML_ERROR_LIBRARY_NOT_FOUND", library_not_found},
      {"NVML_ERROR_FUNCTION_NOT_FOUND", function_not_found},
      {"NVML_ERROR_CORRUPTED_INFOROM", corrupted_inforom},
      {"NVML_ERROR_GPU_IS_LOST", gpu_is_lost},
      {"NVML_ERROR_RESET_REQUIRED", reset_required},
      {"NVML_ERROR_OPERATING_SYSTEM", operating_system},
      {"NVML_ERROR_LIB_RM_VERSION_MISMATCH", version_mismatch},
      {"NVML_ERROR_IN_USE", in_use},
      {"NVML_ERROR_MEMORY", out_of_memory},
      {"NVML_ERROR_NO_DATA", no_data},
      {"NVML_ERROR_VGPU_ECC_NOT_SUPPORTED", vgpu_ecc_not_supported},
      {"NVML_ERROR_INSUFFICIENT_RESOURCES", insufficient_resources},
      {"NVML_ERROR_FREQ_NOT_SUPPORTED", freq_not_supported},
      {"NVML_ERROR_ARGUMENT_VERSION_MISMATCH", argument_version_mismatch},
      {"NVML_ERROR_DEPRECATED", deprecated},
      {"NVML_ERROR_NOT_READY", not_ready},
      {"NVML_ERROR_GPU_NOT_FOUND", gpu_not_found},
      {"NVML_ERROR_INVALID_STATE", invalid_state},
      {"NVML_ERROR_UNKNOWN", unknown},
  };
  const auto& theirs = all.at("return_codes");
  CHECK(theirs.size() == std::size(ours));
  for (const auto& [name, number] : ours) CHECK(theirs.at(name) == static_cast<int>(number));
}
