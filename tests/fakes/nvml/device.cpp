// SPDX-License-Identifier: MIT OR Apache-2.0
#include <strings.h>

#include <cstdio>
#include <cstring>

#include "driver.hpp"

namespace fake_nvml {
namespace {

Status count_devices(Call which, unsigned* to) {
  Visit v(which);
  if (!v.admitted()) return v.result();
  if (!to) return v.done(error_invalid_argument);
  put(to, v.scene().device_count.value_or(static_cast<unsigned>(v.scene().devices.size())));
  return v.done(success);
}

const Device* next_of(const Scenario& s, const Device& target) {
  return s.devices[(target.index + 1) % s.devices.size()].get();
}

// One way to a handle: the rules hear of the device that it would have found.
template <class Find>
Status find_handle(Call which, DeviceHandle* to, Status otherwise, Find find) {
  Visit v(which);
  const Device* target = v.has_scene() ? find(v.scene()) : nullptr;
  if (!v.admitted(target)) return v.result();
  if (!to) return v.done(error_invalid_argument);
  if (!target) return v.done(otherwise);
  if (present_lie.how == Lie::next_device) target = next_of(v.scene(), *target);
  put(to, handle_of(v.home(), *target));
  return v.done(success);
}

Status by_index(Call which, unsigned index, DeviceHandle* to) {
  return find_handle(which, to, error_invalid_argument, [&](const Scenario& s) -> const Device* {
    return index < s.devices.size() ? s.devices[index].get() : nullptr;
  });
}

bool has_uuid(const Device& one, const char* uuid) {
  return one.uuid.result == success && one.uuid.value == uuid;
}

const Device* device_with_uuid(const Scenario& s, const char* uuid) {
  for (const auto& one : s.devices) {
    if (has_uuid(*one, uuid)) return one.get();
    for (const auto& instance : one->instances)
      if (has_uuid(*instance, uuid)) return instance.get();
  }
  return nullptr;
}

Status by_bus(Call which, const char* text, DeviceHandle* to) {
  unsigned domain = 0, bus = 0, slot = 0;
  const bool spelt = text && std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3;
  return find_handle(which, to, spelt ? error_not_found : error_invalid_argument,
                     [&](const Scenario& s) -> const Device* {
                       for (const auto& one : s.devices) {
                         const auto& pci = one->pci.value;
                         if (spelt && one->pci.result == success && pci.domain == domain &&
                             pci.bus == bus && pci.device == slot)
                           return one.get();
                       }
                       return nullptr;
                     });
}

Status read_text(Call which, DeviceHandle handle, Answer<std::string> Device::*from, char* to,
                 unsigned length) {
  return on_device(which, handle, [&](const Device& target, Visit&) {
    const auto& text = target.*from;
    return text.result == success ? write_text(text.value, to, length) : text.result;
  });
}

Status narrow_pci(Call which, DeviceHandle handle, PciInfoV2* to) {
  return on_device(which, handle, [&](const Device& target, Visit&) {
    PciInfo wide{};
    const Status result = give(target.pci, to ? &wide : nullptr);
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

FAKE_NVML_EXPORT Status nvmlDeviceGetCount(unsigned* to) {
  return count_devices(Call::nvmlDeviceGetCount, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCount_v2(unsigned* to) {
  return count_devices(Call::nvmlDeviceGetCount_v2, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByIndex(unsigned index, DeviceHandle* to) {
  return by_index(Call::nvmlDeviceGetHandleByIndex, index, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle* to) {
  return by_index(Call::nvmlDeviceGetHandleByIndex_v2, index, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByUUID(const char* uuid, DeviceHandle* to) {
  return find_handle(Call::nvmlDeviceGetHandleByUUID, to,
                     uuid ? error_not_found : error_invalid_argument,
                     [&](const Scenario& s) { return uuid ? device_with_uuid(s, uuid) : nullptr; });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByPciBusId(const char* bus, DeviceHandle* to) {
  return by_bus(Call::nvmlDeviceGetHandleByPciBusId, bus, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByPciBusId_v2(const char* bus, DeviceHandle* to) {
  return by_bus(Call::nvmlDeviceGetHandleByPciBusId_v2, bus, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetName(DeviceHandle h, char* to, unsigned length) {
  return read_text(Call::nvmlDeviceGetName, h, &Device::name, to, length);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetUUID(DeviceHandle h, char* to, unsigned length) {
  return read_text(Call::nvmlDeviceGetUUID, h, &Device::uuid, to, length);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetSerial(DeviceHandle h, char* to, unsigned length) {
  return read_text(Call::nvmlDeviceGetSerial, h, &Device::serial, to, length);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetVbiosVersion(DeviceHandle h, char* to, unsigned length) {
  return read_text(Call::nvmlDeviceGetVbiosVersion, h, &Device::vbios, to, length);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetIndex(DeviceHandle h, unsigned* to) {
  return on_device(Call::nvmlDeviceGetIndex, h, [&](const Device& target, Visit&) {
    if (!to) return error_invalid_argument;
    *to = target.parent ? target.slot : target.index;
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMinorNumber(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetMinorNumber, h, to, &Device::minor);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPciInfo(DeviceHandle h, PciInfoV2* to) {
  return narrow_pci(Call::nvmlDeviceGetPciInfo, h, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPciInfo_v2(DeviceHandle h, PciInfoV2* to) {
  return narrow_pci(Call::nvmlDeviceGetPciInfo_v2, h, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPciInfo_v3(DeviceHandle h, PciInfo* to) {
  return read(Call::nvmlDeviceGetPciInfo_v3, h, to, &Device::pci);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetBrand(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetBrand, h, to, &Device::brand);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetArchitecture(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetArchitecture, h, to, &Device::architecture);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPersistenceMode(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetPersistenceMode, h, to, &Device::persistence);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetVirtualizationMode(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetVirtualizationMode, h, to, &Device::virtualization);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCudaComputeCapability(DeviceHandle h, int* major, int* minor) {
  return on_device(Call::nvmlDeviceGetCudaComputeCapability, h, [&](const Device& target, Visit&) {
    const Status result = give(target.compute_major, major);
    return result == success ? give(target.compute_minor, minor) : result;
  });
}
