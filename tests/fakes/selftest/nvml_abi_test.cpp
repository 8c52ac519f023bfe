// SPDX-License-Identifier: MIT OR Apache-2.0
#include "../nvml/nvml_abi.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "selftest.hpp"

namespace {

using namespace fake_nvml;
using json = nlohmann::json;

struct Member {
  const char* name;
  std::size_t offset, size;
};

struct Layout {
  const char* name;
  std::size_t size, align;
  std::vector<Member> members;
};

#define MEMBER(type, ours, theirs)                   \
  Member {                                           \
    theirs, offsetof(type, ours), sizeof(type::ours) \
  }
#define LAYOUT(type, theirs, ...)          \
  Layout {                                 \
    theirs, sizeof(type), alignof(type), { \
      __VA_ARGS__                          \
    }                                      \
  }

std::vector<Layout> layouts() {
  return {
      LAYOUT(MemoryV1, "nvmlMemory_t", MEMBER(MemoryV1, total, "total"),
             MEMBER(MemoryV1, free, "free"), MEMBER(MemoryV1, used, "used")),
      LAYOUT(MemoryV2, "nvmlMemory_v2_t", MEMBER(MemoryV2, version, "version"),
             MEMBER(MemoryV2, total, "total"), MEMBER(MemoryV2, reserved, "reserved"),
             MEMBER(MemoryV2, free, "free"), MEMBER(MemoryV2, used, "used")),
      LAYOUT(Bar1Memory, "nvmlBAR1Memory_t", MEMBER(Bar1Memory, total, "bar1Total"),
             MEMBER(Bar1Memory, free, "bar1Free"), MEMBER(Bar1Memory, used, "bar1Used")),
      LAYOUT(ProcessV1, "nvmlProcessInfo_v1_t", MEMBER(ProcessV1, pid, "pid"),
             MEMBER(ProcessV1, used, "usedGpuMemory")),
      LAYOUT(ProcessV2, "nvmlProcessInfo_v2_t", MEMBER(ProcessV2, pid, "pid"),
             MEMBER(ProcessV2, used, "usedGpuMemory"),
             MEMBER(ProcessV2, gpu_instance, "gpuInstanceId"),
             MEMBER(ProcessV2, compute_instance, "computeInstanceId")),
      LAYOUT(ProcessDetail, "nvmlProcessDetail_v1_t", MEMBER(ProcessDetail, pid, "pid"),
             MEMBER(ProcessDetail, used, "usedGpuMemory"),
             MEMBER(ProcessDetail, gpu_instance, "gpuInstanceId"),
             MEMBER(ProcessDetail, compute_instance, "computeInstanceId"),
             MEMBER(ProcessDetail, protected_used, "usedGpuCcProtectedMemory")),
      LAYOUT(ProcessDetailList, "nvmlProcessDetailList_v1_t",
             MEMBER(ProcessDetailList, version, "version"), MEMBER(ProcessDetailList, mode, "mode"),
             MEMBER(ProcessDetailList, count, "numProcArrayEntries"),
             MEMBER(ProcessDetailList, rows, "procArray")),
      LAYOUT(Utilization, "nvmlUtilization_t", MEMBER(Utilization, gpu, "gpu"),
             MEMBER(Utilization, memory, "memory")),
      LAYOUT(ProcessSample, "nvmlProcessUtilizationSample_t", MEMBER(ProcessSample, pid, "pid"),
             MEMBER(ProcessSample, time_us, "timeStamp"), MEMBER(ProcessSample, sm, "smUtil"),
             MEMBER(ProcessSample, memory, "memUtil"), MEMBER(ProcessSample, encoder, "encUtil"),
             MEMBER(ProcessSample, decoder, "decUtil")),
      LAYOUT(PciInfo, "nvmlPciInfo_t", MEMBER(PciInfo, bus_id_legacy, "busIdLegacy"),
             MEMBER(PciInfo, domain, "domain"), MEMBER(PciInfo, bus, "bus"),
             MEMBER(PciInfo, device, "device"), MEMBER(PciInfo, pci_device_id, "pciDeviceId"),
             MEMBER(PciInfo, pci_subsystem_id, "pciSubSystemId"), MEMBER(PciInfo, bus_id, "busId")),
      LAYOUT(Attributes, "nvmlDeviceAttributes_t",
             MEMBER(Attributes, multiprocessors, "multiprocessorCount"),
             MEMBER(Attributes, copy_engines, "sharedCopyEngineCount"),
             MEMBER(Attributes, decoders, "sharedDecoderCount"),
             MEMBER(Attributes, encoders, "sharedEncoderCount"),
             MEMBER(Attributes, jpegs, "sharedJpegCount"),
             MEMBER(Attributes, ofas, "sharedOfaCount"),
             MEMBER(Attributes, gpu_slices, "gpuInstanceSliceCount"),
             MEMBER(Attributes, compute_slices, "computeInstanceSliceCount"),
             MEMBER(Attributes, memory_mib, "memorySizeMB")),
      LAYOUT(FieldValue, "nvmlFieldValue_t", MEMBER(FieldValue, id, "fieldId"),
             MEMBER(FieldValue, scope, "scopeId"), MEMBER(FieldValue, timestamp, "timestamp"),
             MEMBER(FieldValue, latency_us, "latencyUsec"),
             MEMBER(FieldValue, value_type, "valueType"), MEMBER(FieldValue, result, "nvmlReturn"),
             MEMBER(FieldValue, value, "value")),
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

TEST_CASE("nvml_abi: struct layouts match NVIDIA's header") {
  if (has_no_reference()) return;
  const auto measured = reference();
  for (const auto& struct_layout : layouts()) {
    CAPTURE(struct_layout.name);
    const auto& expected = measured.at("structs").at(struct_layout.name);
    CHECK(expected.at("size") == struct_layout.size);
    CHECK(expected.at("align") == struct_layout.align);
    CHECK(expected.at("offsets").size() == struct_layout.members.size());
    for (const auto& field : struct_layout.members) {
      CAPTURE(field.name);
      CHECK(expected.at("offsets").at(field.name) == json::array({field.offset, field.size}));
    }
  }
}

TEST_CASE("nvml_abi: constants and return codes match NVIDIA's header") {
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

TEST_CASE("nvml_abi: every exported name is exported by a real driver") {
  if (has_no_reference()) return;
  const auto measured = reference();
  // Added to the library after the measured 550 driver.
  const std::vector<std::string> newer = {"nvmlDeviceGetAddressingMode",
                                          "nvmlDeviceGetTemperatureV"};
  const auto& real = measured.at("exported_symbols_550_163_01");
  for (const char* symbol : {
#define FAKE_NVML_CALL(name) #name,
#include "../nvml/calls.def"
#undef FAKE_NVML_CALL
       }) {
    CAPTURE(symbol);
    const bool is_known = std::find(real.begin(), real.end(), symbol) != real.end() ||
                          std::find(newer.begin(), newer.end(), symbol) != newer.end();
    CHECK(is_known);
  }
}
