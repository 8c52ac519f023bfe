// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

namespace fake_nvml {
namespace {

status instance_id(call which, device_handle handle, unsigned* to, unsigned device::*from) {
  return on_device(which, handle, [&](const device& target, visit&) {
    if (!to || !target.parent) return error_invalid_argument;
    put(to, target.*from);
    return success;
  });
}

const device* instance_at(const device& gpu, unsigned slot) {
  for (const auto& one : gpu.instances)
    if (one->slot == slot) return one.get();
  return nullptr;
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT status nvmlDeviceGetMaxMigDeviceCount(device_handle h, unsigned* to) {
  return on_device(call::nvmlDeviceGetMaxMigDeviceCount, h, [&](const device& target, visit&) {
    if (!to) return error_invalid_argument;
    put(to, target.mig_max);
    return success;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetMigDeviceHandleByIndex(device_handle h, unsigned slot,
                                                            device_handle* to) {
  return on_device(call::nvmlDeviceGetMigDeviceHandleByIndex, h,
                   [&](const device& target, visit& v) {
                     if (!to) return error_invalid_argument;
                     if (target.mig_mode.result != success) return error_not_supported;
                     if (slot >= target.mig_max) return error_invalid_argument;
                     const auto* instance = instance_at(target, slot);
                     if (!instance) return error_not_found;
                     put(to, handle_of(v.home(), *instance));
                     return success;
                   });
}

FAKE_NVML_EXPORT status nvmlDeviceGetGpuInstanceId(device_handle h, unsigned* to) {
  return instance_id(call::nvmlDeviceGetGpuInstanceId, h, to, &device::gpu_instance);
}

FAKE_NVML_EXPORT status nvmlDeviceGetComputeInstanceId(device_handle h, unsigned* to) {
  return instance_id(call::nvmlDeviceGetComputeInstanceId, h, to, &device::compute_instance);
}

FAKE_NVML_EXPORT status nvmlDeviceIsMigDeviceHandle(device_handle h, unsigned* to) {
  return on_device(call::nvmlDeviceIsMigDeviceHandle, h, [&](const device& target, visit&) {
    if (!to) return error_invalid_argument;
    *to = target.parent ? 1 : 0;
    return success;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device_handle h,
                                                                     device_handle* to) {
  return on_device(call::nvmlDeviceGetDeviceHandleFromMigDeviceHandle, h,
                   [&](const device& target, visit& v) {
                     if (!to || !target.parent) return error_invalid_argument;
                     *to = handle_of(v.home(), *target.parent);
                     return success;
                   });
}
