// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Compares the layouts declared in src with those measured with the vendor's header.
#include "backends/nvml/abi.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

using namespace hmn::nvml;

namespace {

struct Member {
  const char* theirs;
  std::size_t offset;
  std::size_t size;
};

#define MEMBER(type, ours, theirs)                    \
  Member {                                            \
#theirs, offsetof(type, ours), sizeof(type::ours) \
  }

nlohmann::json load_reference() {
  std::ifstream file(std::filesystem::path(HMN_REFERENCE_DIR) / "nvml-abi.json");
  return file ? nlohmann::json::parse(file) : nlohmann::json();
}

void check_struct(const nlohmann::json& all, const char* name, std::size_t size,
                  std::initializer_list<Member> members) {
  CAPTURE(name);
  const auto& theirs = all.at("structs").at(name);
  CHECK(theirs.at("size") == size);
  CHECK(theirs.at("offsets").size() == members.size());
  for (const Member& member : members) {
    CAPTURE(member.theirs);
    CHECK(theirs.at("offsets").at(member.theirs).at(0) == member.offset);
    CHECK(theirs.at("offsets").at(member.theirs).at(1) == member.size);
  }
}

}  // namespace

TEST_CASE("struct layouts match the vendor's header") {
  const auto all = load_reference();
  if (all.is_null()) {
    MESSAGE("skipped: no reference table");
    return;
  }
  check_struct(
      all, "nvmlMemory_t", sizeof(MemoryV1),
      {MEMBER(MemoryV1, total, total), MEMBER(MemoryV1, free, free), MEMBER(MemoryV1, used, used)});
  check_struct(all, "nvmlMemory_v2_t", sizeof(MemoryV2),
               {MEMBER(MemoryV2, version, version), MEMBER(MemoryV2, total, total),
                MEMBER(MemoryV2, reserved, reserved), MEMBER(MemoryV2, free, free),
                MEMBER(MemoryV2, used, used)});
  check_struct(all, "nvmlBAR1Memory_t", sizeof(Bar1Memory),
               {MEMBER(Bar1Memory, total, bar1Total), MEMBER(Bar1Memory, free, bar1Free),
                MEMBER(Bar1Memory, used, bar1Used)});
  check_struct(all, "nvmlProcessInfo_v1_t", sizeof(ProcessV1),
               {MEMBER(ProcessV1, pid, pid), MEMBER(ProcessV1, used, usedGpuMemory)});
  check_struct(all, "nvmlProcessInfo_v2_t", sizeof(ProcessV2),
               {MEMBER(ProcessV2, pid, pid), MEMBER(ProcessV2, used, usedGpuMemory),
                MEMBER(ProcessV2, gpu_instance, gpuInstanceId),
                MEMBER(ProcessV2, compute_instance, computeInstanceId)});
  check_struct(all, "nvmlProcessDetail_v1_t", sizeof(ProcessDetail),
               {MEMBER(ProcessDetail, pid, pid), MEMBER(ProcessDetail, used, usedGpuMemory),
                MEMBER(ProcessDetail, gpu_instance, gpuInstanceId),
                MEMBER(ProcessDetail, compute_instance, computeInstanceId),
                MEMBER(ProcessDetail, protected_used, usedGpuCcProtectedMemory)});
  check_struct(all, "nvmlProcessUtilizationSample_t", sizeof(ProcessSample),
               {MEMBER(ProcessSample, pid, pid), MEMBER(ProcessSample, time_us, timeStamp),
                MEMBER(ProcessSample, sm, smUtil), MEMBER(ProcessSample, memory, memUtil),
                MEMBER(ProcessSample, encoder, encUtil), MEMBER(ProcessSample, decoder, decUtil)});
  check_struct(all, "nvmlUtilization_t", sizeof(Utilization),
               {MEMBER(Utilization, gpu, gpu), MEMBER(Utilization, memory, memory)});
  check_struct(all, "nvmlPciInfo_t", sizeof(PciInfo),
               {MEMBER(PciInfo, bus_id_legacy, busIdLegacy), MEMBER(PciInfo, domain, domain),
                MEMBER(PciInfo, bus, bus), MEMBER(PciInfo, device, device),
                MEMBER(PciInfo, device_id, pciDeviceId),
                MEMBER(PciInfo, subsystem_id, pciSubSystemId), MEMBER(PciInfo, bus_id, busId)});
  check_struct(all, "nvmlFieldValue_t", sizeof(FieldValue),
               {MEMBER(FieldValue, id, fieldId), MEMBER(FieldValue, scope, scopeId),
                MEMBER(FieldValue, timestamp, timestamp),
                MEMBER(FieldValue, latency_us, latencyUsec), MEMBER(FieldValue, type, valueType),
                MEMBER(FieldValue, result, nvmlReturn), MEMBER(FieldValue, bits, value)});
}

TEST_CASE("constants match the vendor's header") {
  const auto all = load_reference();
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

TEST_CASE("return codes match the vendor's header") {
  const auto all = load_reference();
  if (all.is_null()) {
    MESSAGE("skipped: no reference table");
    return;
  }
  const std::pair<const char*, Code> ours[] = {
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
