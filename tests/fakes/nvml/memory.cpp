// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlDeviceGetMemoryInfo(DeviceHandle handle, MemoryV1* memory) {
  return read_member(Call::nvmlDeviceGetMemoryInfo, handle, memory, &Device::memory);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMemoryInfo_v2(DeviceHandle handle, MemoryV2* memory) {
  return with_device(Call::nvmlDeviceGetMemoryInfo_v2, handle, [&](const Device& target, Visit&) {
    if (!memory) return error_invalid_argument;
    if (memory->version != memory_v2_version) return error_argument_version_mismatch;
    const Status result = write_answer(target.memory_v2, memory);
    memory->version = memory_v2_version;
    return result;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetBAR1MemoryInfo(DeviceHandle handle, Bar1Memory* memory) {
  return read_member(Call::nvmlDeviceGetBAR1MemoryInfo, handle, memory, &Device::bar1);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAttributes(DeviceHandle handle, Attributes* values) {
  return read_member(Call::nvmlDeviceGetAttributes, handle, values, &Device::attribute);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAttributes_v2(DeviceHandle handle, Attributes* values) {
  return read_member(Call::nvmlDeviceGetAttributes_v2, handle, values, &Device::attribute);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetNumaNodeId(DeviceHandle handle, unsigned* node) {
  return read_member(Call::nvmlDeviceGetNumaNodeId, handle, node, &Device::numa_node);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetC2cModeInfoV(DeviceHandle handle, C2cMode* mode) {
  return read_member(Call::nvmlDeviceGetC2cModeInfoV, handle, mode ? &mode->enabled : nullptr,
                     &Device::c2c);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAddressingMode(DeviceHandle handle, AddressingMode* mode) {
  return with_device(Call::nvmlDeviceGetAddressingMode, handle, [&](const Device& target, Visit&) {
    if (!mode) return error_invalid_argument;
    if (mode->version != addressing_mode_version) return error_argument_version_mismatch;
    return write_answer(target.addressing, &mode->value);
  });
}
