// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

using namespace fake_nvml;

FAKE_NVML_EXPORT status nvmlDeviceGetMemoryInfo(device_handle h, memory_v1* to) {
  return read(call::nvmlDeviceGetMemoryInfo, h, to, &device::memory);
}

FAKE_NVML_EXPORT status nvmlDeviceGetMemoryInfo_v2(device_handle h, memory_v2* to) {
  return on_device(call::nvmlDeviceGetMemoryInfo_v2, h, [&](const device& target, visit&) {
    if (!to) return error_invalid_argument;
    if (to->version != memory_v2_version) return error_argument_version_mismatch;
    const status result = give(target.memory_v2, to);
    to->version = memory_v2_version;
    return result;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetBAR1MemoryInfo(device_handle h, bar1_memory* to) {
  return read(call::nvmlDeviceGetBAR1MemoryInfo, h, to, &device::bar1);
}

FAKE_NVML_EXPORT status nvmlDeviceGetAttributes(device_handle h, attributes* to) {
  return read(call::nvmlDeviceGetAttributes, h, to, &device::attribute);
}

FAKE_NVML_EXPORT status nvmlDeviceGetAttributes_v2(device_handle h, attributes* to) {
  return read(call::nvmlDeviceGetAttributes_v2, h, to, &device::attribute);
}

FAKE_NVML_EXPORT status nvmlDeviceGetNumaNodeId(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetNumaNodeId, h, to, &device::numa_node);
}

FAKE_NVML_EXPORT status nvmlDeviceGetC2cModeInfoV(device_handle h, c2c_mode* to) {
  return read(call::nvmlDeviceGetC2cModeInfoV, h, to ? &to->enabled : nullptr, &device::c2c);
}

FAKE_NVML_EXPORT status nvmlDeviceGetAddressingMode(device_handle h, addressing_mode* to) {
  return on_device(call::nvmlDeviceGetAddressingMode, h, [&](const device& target, visit&) {
    if (!to) return error_invalid_argument;
    if (to->version != addressing_mode_version) return error_argument_version_mismatch;
    return give(target.addressing, &to->value);
  });
}
