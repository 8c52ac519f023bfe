// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

namespace fake_nvml {
namespace {

Status instance_id(Call function, DeviceHandle handle, unsigned* id, unsigned Device::*member) {
  return with_device(function, handle, [&](const Device& target, Visit&) {
    if (!id || !target.parent) return error_invalid_argument;
    write_value(id, target.*member);
    return success;
  });
}

const Device* find_instance(const Device& gpu, unsigned slot) {
  for (const auto& instance : gpu.instances)
    if (instance->slot == slot) return instance.get();
  return nullptr;
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlDeviceGetMaxMigDeviceCount(DeviceHandle handle, unsigned* count) {
  return with_device(Call::nvmlDeviceGetMaxMigDeviceCount, handle,
                     [&](const Device& target, Visit&) {
                       if (!count) return error_invalid_argument;
                       write_value(count, target.mig_max);
                       return success;
                     });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMigDeviceHandleByIndex(DeviceHandle handle, unsigned slot,
                                                            DeviceHandle* instance_handle) {
  return with_device(Call::nvmlDeviceGetMigDeviceHandleByIndex, handle,
                     [&](const Device& target, Visit& visit) {
                       if (!instance_handle) return error_invalid_argument;
                       if (target.mig_mode.result != success) return error_not_supported;
                       if (slot >= target.mig_max) return error_invalid_argument;
                       const auto* instance = find_instance(target, slot);
                       if (!instance) return error_not_found;
                       write_value(instance_handle, make_handle(visit.driver(), *instance));
                       return success;
                     });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetGpuInstanceId(DeviceHandle handle, unsigned* id) {
  return instance_id(Call::nvmlDeviceGetGpuInstanceId, handle, id, &Device::gpu_instance);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetComputeInstanceId(DeviceHandle handle, unsigned* id) {
  return instance_id(Call::nvmlDeviceGetComputeInstanceId, handle, id, &Device::compute_instance);
}

FAKE_NVML_EXPORT Status nvmlDeviceIsMigDeviceHandle(DeviceHandle handle, unsigned* is_instance) {
  return with_device(Call::nvmlDeviceIsMigDeviceHandle, handle, [&](const Device& target, Visit&) {
    if (!is_instance) return error_invalid_argument;
    *is_instance = target.parent ? 1 : 0;
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetDeviceHandleFromMigDeviceHandle(DeviceHandle handle,
                                                                     DeviceHandle* parent_handle) {
  return with_device(Call::nvmlDeviceGetDeviceHandleFromMigDeviceHandle, handle,
                     [&](const Device& target, Visit& visit) {
                       if (!parent_handle || !target.parent) return error_invalid_argument;
                       *parent_handle = make_handle(visit.driver(), *target.parent);
                       return success;
                     });
}
