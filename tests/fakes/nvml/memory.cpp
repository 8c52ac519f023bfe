// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlDeviceGetMemoryInfo(DeviceHandle h, MemoryV1* to) {
  return read(Call::nvmlDeviceGetMemoryInfo, h, to, &Device::memory);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMemoryInfo_v2(DeviceHandle h, MemoryV2* to) {
  return on_device(Call::nvmlDeviceGetMemoryInfo_v2, h, [&](const Device& target, Visit&) {
    if (!to) return error_invalid_argument;
    if (to->version != memory_v2_version) return error_argument_version_mismatch;
    const Status result = give(target.memory_v2, to);
    to->version = memory_v2_version;
    return result;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetBAR1MemoryInfo(DeviceHandle h, Bar1Memory* to) {
  return read(Call::nvmlDeviceGetBAR1MemoryInfo, h, to, &Device::bar1);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAttributes(DeviceHandle h, Attributes* to) {
  return read(Call::nvmlDeviceGetAttributes, h, to, &Device::attribute);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAttributes_v2(DeviceHandle h, Attributes* to) {
  return read(Call::nvmlDeviceGetAttributes_v2, h, to, &Device::attribute);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetNumaNodeId(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetNumaNodeId, h, to, &Device::numa_node);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetC2cModeInfoV(DeviceHandle h, C2cMode* to) {
  return read(Call::nvmlDeviceGetC2cModeInfoV, h, to ? &to->enabled : nullptr, &Device::c2c);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAddressingMode(DeviceHandle h, AddressingMode* to) {
  return on_device(Call::nvmlDeviceGetAddressingMode, h, [&](const Device& target, Visit&) {
    if (!to) return error_invalid_argument;
    if (to->version != addressing_mode_version) return error_argument_version_mismatch;
    return give(target.addressing, &to->value);
  });
}
