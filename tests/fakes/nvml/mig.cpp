// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

namespace fake_nvml {
namespace {

Status instance_id(Call which, DeviceHandle handle, unsigned* to, unsigned Device::*from) {
  return on_device(which, handle, [&](const Device& target, Visit&) {
    if (!to || !target.parent) return error_invalid_argument;
    put(to, target.*from);
    return success;
  });
}

const Device* instance_at(const Device& gpu, unsigned slot) {
  for (const auto& one : gpu.instances)
    if (one->slot == slot) return one.get();
  return nullptr;
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlDeviceGetMaxMigDeviceCount(DeviceHandle h, unsigned* to) {
  return on_device(Call::nvmlDeviceGetMaxMigDeviceCount, h, [&](const Device& target, Visit&) {
    if (!to) return error_invalid_argument;
    put(to, target.mig_max);
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMigDeviceHandleByIndex(DeviceHandle h, unsigned slot,
                                                            DeviceHandle* to) {
  return on_device(Call::nvmlDeviceGetMigDeviceHandleByIndex, h,
                   [&](const Device& target, Visit& v) {
                     if (!to) return error_invalid_argument;
                     if (target.mig_mode.result != success) return error_not_supported;
                     if (slot >= target.mig_max) return error_invalid_argument;
                     const auto* instance = instance_at(target, slot);
                     if (!instance) return error_not_found;
                     put(to, handle_of(v.home(), *instance));
                     return success;
                   });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetGpuInstanceId(DeviceHandle h, unsigned* to) {
  return instance_id(Call::nvmlDeviceGetGpuInstanceId, h, to, &Device::gpu_instance);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetComputeInstanceId(DeviceHandle h, unsigned* to) {
  return instance_id(Call::nvmlDeviceGetComputeInstanceId, h, to, &Device::compute_instance);
}

FAKE_NVML_EXPORT Status nvmlDeviceIsMigDeviceHandle(DeviceHandle h, unsigned* to) {
  return on_device(Call::nvmlDeviceIsMigDeviceHandle, h, [&](const Device& target, Visit&) {
    if (!to) return error_invalid_argument;
    *to = target.parent ? 1 : 0;
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetDeviceHandleFromMigDeviceHandle(DeviceHandle h,
                                                                     DeviceHandle* to) {
  return on_device(Call::nvmlDeviceGetDeviceHandleFromMigDeviceHandle, h,
                   [&](const Device& target, Visit& v) {
                     if (!to || !target.parent) return error_invalid_argument;
                     *to = handle_of(v.home(), *target.parent);
                     return success;
                   });
}
