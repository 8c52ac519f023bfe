// SPDX-License-Identifier: MIT OR Apache-2.0
#include <strings.h>

#include <cstdio>
#include <cstring>

#include "driver.hpp"

namespace fake_nvml {
namespace {

status count_devices(call which, unsigned* to) {
  visit v(which);
  if (!v.admitted()) return v.result();
  if (!to) return v.done(error_invalid_argument);
  put(to, v.scene().device_count.value_or(static_cast<unsigned>(v.scene().devices.size())));
  return v.done(success);
}

const device* next_of(const scenario& s, const device& target) {
  return s.devices[(target.index + 1) % s.devices.size()].get();
}

// One way to a handle: the rules hear of the device that it would have found.
template <class Find>
status find_handle(call which, device_handle* to, status otherwise, Find find) {
  visit v(which);
  const device* target = v.has_scene() ? find(v.scene()) : nullptr;
  if (!v.admitted(target)) return v.result();
  if (!to) return v.done(error_invalid_argument);
  if (!target) return v.done(otherwise);
  if (present_lie.how == lie::next_device) target = next_of(v.scene(), *target);
  put(to, handle_of(v.home(), *target));
  return v.done(success);
}

status by_index(call which, unsigned index, device_handle* to) {
  return find_handle(which, to, error_invalid_argument, [&](const scenario& s) -> const device* {
    return index < s.devices.size() ? s.devices[index].get() : nullptr;
  });
}

bool has_uuid(const device& one, const char* uuid) {
  return one.uuid.result == success && one.uuid.value == uuid;
}

const device* device_with_uuid(const scenario& s, const char* uuid) {
  for (const auto& one : s.devices) {
    if (has_uuid(*one, uuid)) return one.get();
    for (const auto& instance : one->instances)
      if (has_uuid(*instance, uuid)) return instance.get();
  }
  return nullptr;
}

status by_bus(call which, const char* text, device_handle* to) {
  unsigned domain = 0, bus = 0, slot = 0;
  const bool spelt = text && std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3;
  return find_handle(which, to, spelt ? error_not_found : error_invalid_argument,
                     [&](const scenario& s) -> const device* {
                       for (const auto& one : s.devices) {
                         const auto& pci = one->pci.value;
                         if (spelt && one->pci.result == success && pci.domain == domain &&
                             pci.bus == bus && pci.device == slot)
                           return one.get();
                       }
                       return nullptr;
                     });
}

status read_text(call which, device_handle handle, answer<std::string> device::*from, char* to,
                 unsigned length) {
  return on_device(which, handle, [&](const device& target, visit&) {
    const auto& text = target.*from;
    return text.result == success ? write_text(text.value, to, length) : text.result;
  });
}

status narrow_pci(call which, device_handle handle, pci_info_v2* to) {
  return on_device(which, handle, [&](const device& target, visit&) {
    pci_info wide{};
    const status result = give(target.pci, to ? &wide : nullptr);
    if (result != success) return result;
    std::memcpy(to->bus_id, wide.bus_id_legacy, sizeof to->bus_id);
    to->domain = wide.domain;
    to->bus = wide.bus;
    to->device = wide.device;
    to->pci_device_id = wide.pci_device_id;
    to->pci_subsystem_id = wide.pci_subsystem_id;
    return result;
  });
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT status nvmlDeviceGetCount(unsigned* to) {
  return count_devices(call::nvmlDeviceGetCount, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetCount_v2(unsigned* to) {
  return count_devices(call::nvmlDeviceGetCount_v2, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetHandleByIndex(unsigned index, device_handle* to) {
  return by_index(call::nvmlDeviceGetHandleByIndex, index, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetHandleByIndex_v2(unsigned index, device_handle* to) {
  return by_index(call::nvmlDeviceGetHandleByIndex_v2, index, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetHandleByUUID(const char* uuid, device_handle* to) {
  return find_handle(call::nvmlDeviceGetHandleByUUID, to,
                     uuid ? error_not_found : error_invalid_argument,
                     [&](const scenario& s) { return uuid ? device_with_uuid(s, uuid) : nullptr; });
}

FAKE_NVML_EXPORT status nvmlDeviceGetHandleByPciBusId(const char* bus, device_handle* to) {
  return by_bus(call::nvmlDeviceGetHandleByPciBusId, bus, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetHandleByPciBusId_v2(const char* bus, device_handle* to) {
  return by_bus(call::nvmlDeviceGetHandleByPciBusId_v2, bus, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetName(device_handle h, char* to, unsigned length) {
  return read_text(call::nvmlDeviceGetName, h, &device::name, to, length);
}

FAKE_NVML_EXPORT status nvmlDeviceGetUUID(device_handle h, char* to, unsigned length) {
  return read_text(call::nvmlDeviceGetUUID, h, &device::uuid, to, length);
}

FAKE_NVML_EXPORT status nvmlDeviceGetSerial(device_handle h, char* to, unsigned length) {
  return read_text(call::nvmlDeviceGetSerial, h, &device::serial, to, length);
}

FAKE_NVML_EXPORT status nvmlDeviceGetVbiosVersion(device_handle h, char* to, unsigned length) {
  return read_text(call::nvmlDeviceGetVbiosVersion, h, &device::vbios, to, length);
}

FAKE_NVML_EXPORT status nvmlDeviceGetIndex(device_handle h, unsigned* to) {
  return on_device(call::nvmlDeviceGetIndex, h, [&](const device& target, visit&) {
    if (!to) return error_invalid_argument;
    *to = target.parent ? target.slot : target.index;
    return success;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetMinorNumber(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetMinorNumber, h, to, &device::minor);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPciInfo(device_handle h, pci_info_v2* to) {
  return narrow_pci(call::nvmlDeviceGetPciInfo, h, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPciInfo_v2(device_handle h, pci_info_v2* to) {
  return narrow_pci(call::nvmlDeviceGetPciInfo_v2, h, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPciInfo_v3(device_handle h, pci_info* to) {
  return read(call::nvmlDeviceGetPciInfo_v3, h, to, &device::pci);
}

FAKE_NVML_EXPORT status nvmlDeviceGetBrand(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetBrand, h, to, &device::brand);
}

FAKE_NVML_EXPORT status nvmlDeviceGetArchitecture(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetArchitecture, h, to, &device::architecture);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPersistenceMode(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetPersistenceMode, h, to, &device::persistence);
}

FAKE_NVML_EXPORT status nvmlDeviceGetVirtualizationMode(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetVirtualizationMode, h, to, &device::virtualization);
}

FAKE_NVML_EXPORT status nvmlDeviceGetCudaComputeCapability(device_handle h, int* major,
                                                           int* minor) {
  return on_device(call::nvmlDeviceGetCudaComputeCapability, h, [&](const device& target, visit&) {
    const status result = give(target.compute_major, major);
    return result == success ? give(target.compute_minor, minor) : result;
  });
}
