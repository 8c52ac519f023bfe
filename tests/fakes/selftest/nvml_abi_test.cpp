// SPDX-License-Identifier: MIT OR Apache-2.0
#include "../nvml/nvml_abi.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "selftest.hpp"

namespace {

using namespace fake_nvml;
using json = nlohmann::json;

struct member {
  const char* name;
  std::size_t offset, size;
};

struct layout {
  const char* name;
  std::size_t size, align;
  std::vector<member> members;
};

#define MEMBER(type, ours, theirs)                   \
  member {                                           \
    theirs, offsetof(type, ours), sizeof(type::ours) \
  }
#define LAYOUT(type, theirs, ...)          \
  layout {                                 \
    theirs, sizeof(type), alignof(type), { \
      __VA_ARGS__                          \
    }                                      \
  }

std::vector<layout> layouts() {
  return {
      LAYOUT(memory_v1, "nvmlMemory_t", MEMBER(memory_v1, total, "total"),
             MEMBER(memory_v1, free, "free"), MEMBER(memory_v1, used, "used")),
      LAYOUT(memory_v2, "nvmlMemory_v2_t", MEMBER(memory_v2, version, "version"),
             MEMBER(memory_v2, total, "total"), MEMBER(memory_v2, reserved, "reserved"),
             MEMBER(memory_v2, free, "free"), MEMBER(memory_v2, used, "used")),
      LAYOUT(bar1_memory, "nvmlBAR1Memory_t", MEMBER(bar1_memory, total, "bar1Total"),
             MEMBER(bar1_memory, free, "bar1Free"), MEMBER(bar1_memory, used, "bar1Used")),
      LAYOUT(process_v1, "nvmlProcessInfo_v1_t", MEMBER(process_v1, pid, "pid"),
             MEMBER(process_v1, used, "usedGpuMemory")),
      LAYOUT(process_v2, "nvmlProcessInfo_v2_t", MEMBER(process_v2, pid, "pid"),
             MEMBER(process_v2, used, "usedGpuMemory"),
             MEMBER(process_v2, gpu_instance, "gpuInstanceId"),
             MEMBER(process_v2, compute_instance, "computeInstanceId")),
      LAYOUT(process_detail, "nvmlProcessDetail_v1_t", MEMBER(process_detail, pid, "pid"),
             MEMBER(process_detail, used, "usedGpuMemory"),
             MEMBER(process_detail, gpu_instance, "gpuInstanceId"),
             MEMBER(process_detail, compute_instance, "computeInstanceId"),
             MEMBER(process_detail, protected_used, "usedGpuCcProtectedMemory")),
      LAYOUT(process_detail_list, "nvmlProcessDetailList_v1_t",
             MEMBER(process_detail_list, version, "version"),
             MEMBER(process_detail_list, mode, "mode"),
             MEMBER(process_detail_list, count, "numProcArrayEntries"),
             MEMBER(process_detail_list, rows, "procArray")),
      LAYOUT(utilization, "nvmlUtilization_t", MEMBER(utilization, gpu, "gpu"),
             MEMBER(utilization, memory, "memory")),
      LAYOUT(process_sample, "nvmlProcessUtilizationSample_t", MEMBER(process_sample, pid, "pid"),
             MEMBER(process_sample, time_us, "timeStamp"), MEMBER(process_sample, sm, "smUtil"),
             MEMBER(process_sample, memory, "memUtil"), MEMBER(process_sample, encoder, "encUtil"),
             MEMBER(process_sample, decoder, "decUtil")),
      LAYOUT(pci_info, "nvmlPciInfo_t", MEMBER(pci_info, bus_id_legacy, "busIdLegacy"),
             MEMBER(pci_info, domain, "domain"), MEMBER(pci_info, bus, "bus"),
             MEMBER(pci_info, device, "device"), MEMBER(pci_info, pci_device_id, "pciDeviceId"),
             MEMBER(pci_info, pci_subsystem_id, "pciSubSystemId"),
             MEMBER(pci_info, bus_id, "busId")),
      LAYOUT(attributes, "nvmlDeviceAttributes_t",
             MEMBER(attributes, multiprocessors, "multiprocessorCount"),
             MEMBER(attributes, copy_engines, "sharedCopyEngineCount"),
             MEMBER(attributes, decoders, "sharedDecoderCount"),
             MEMBER(attributes, encoders, "sharedEncoderCount"),
             MEMBER(attributes, jpegs, "sharedJpegCount"),
             MEMBER(attributes, ofas, "sharedOfaCount"),
             MEMBER(attributes, gpu_slices, "gpuInstanceSliceCount"),
             MEMBER(attributes, compute_slices, "computeInstanceSliceCount"),
             MEMBER(attributes, memory_mib, "memorySizeMB")),
      LAYOUT(field_value, "nvmlFieldValue_t", MEMBER(field_value, id, "fieldId"),
             MEMBER(field_value, scope, "scopeId"), MEMBER(field_value, timestamp, "timestamp"),
             MEMBER(field_value, latency_us, "latencyUsec"),
             MEMBER(field_value, value_type, "valueType"),
             MEMBER(field_value, result, "nvmlReturn"), MEMBER(field_value, value, "value")),
  };
}

constexpr const char* reference_path = HMN_REFERENCE_DIR "/nvml-abi.json";

bool has_no_reference() {
  return selftest::is_absent("fakes.nvml_abi", reference_path);
}

json reference() {
  std::ifstream file(reference_path);
  return json::parse(file);
}

}  // namespace

TEST_CASE("nvml_abi: the structs are laid out as NVIDIA's header lays them out") {
  if (has_no_reference()) return;
  const auto measured = reference();
  for (const auto& ours : layouts()) {
    CAPTURE(ours.name);
    const auto& theirs = measured.at("structs").at(ours.name);
    CHECK(theirs.at("size") == ours.size);
    CHECK(theirs.at("align") == ours.align);
    CHECK(theirs.at("offsets").size() == ours.members.size());
    for (const auto& one : ours.members) {
      CAPTURE(one.name);
      CHECK(theirs.at("offsets").at(one.name) == json::array({one.offset, one.size}));
    }
  }
}

TEST_CASE("nvml_abi: the constants and return codes are NVIDIA's") {
  if (has_no_reference()) return;
  const auto measured = reference();
  const auto& constants = measured.at("constants");
  CHECK(constants.at("nvmlMemory_v2") == memory_v2_version);
  CHECK(constants.at("nvmlProcessDetailList_v1") == process_detail_list_version);
  CHECK(constants.at("NVML_VALUE_NOT_AVAILABLE") == value_not_available);
  const auto& codes = measured.at("return_codes");
  CHECK(codes.at("NVML_ERROR_DRIVER_NOT_LOADED") == error_driver_not_loaded);
  CHECK(codes.at("NVML_ERROR_INSUFFICIENT_SIZE") == error_insufficient_size);
  CHECK(codes.at("NVML_ERROR_GPU_IS_LOST") == error_gpu_is_lost);
  CHECK(codes.at("NVML_ERROR_ARGUMENT_VERSION_MISMATCH") == error_argument_version_mismatch);
}

TEST_CASE("nvml_abi: every exported name is one that a real driver exports") {
  if (has_no_reference()) return;
  const auto measured = reference();
  // Added to the library after the measured 550 driver.
  const std::vector<std::string> newer = {"nvmlDeviceGetAddressingMode",
                                          "nvmlDeviceGetTemperatureV"};
  const auto& real = measured.at("exported_symbols_550_163_01");
  for (const char* ours : {
#define FAKE_NVML_CALL(name) #name,
#include "../nvml/calls.def"
#undef FAKE_NVML_CALL
       }) {
    CAPTURE(ours);
    const bool known = std::find(real.begin(), real.end(), ours) != real.end() ||
                       std::find(newer.begin(), newer.end(), ours) != newer.end();
    CHECK(known);
  }
}
