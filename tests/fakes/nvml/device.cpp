// SPDX-License-Identifier: MIT OR Apache-2.0
#include <strings.h>

#include <cstdio>
#include <cstring>

#include "driver.hpp"

namespace fake_nvml {
namespace {

Status count_devices(Call function, unsigned* count) {
  Visit visit(function);
  if (!visit.admit()) return visit.result();
  if (!count) return visit.finish(error_invalid_argument);
  write_value(count, visit.scene().device_count.value_or(
                         static_cast<unsigned>(visit.scene().devices.size())));
  return visit.finish(success);
}

const Device* find_next(const Scenario& scenario, const Device& target) {
  return scenario.devices[(target.index + 1) % scenario.devices.size()].get();
}

// Finds a handle; the rules are applied to its device first.
template <class Find>
Status find_handle(Call function, DeviceHandle* handle, Status otherwise, Find find) {
  Visit visit(function);
  const Device* target = visit.has_scene() ? find(visit.scene()) : nullptr;
  if (!visit.admit(target)) return visit.result();
  if (!handle) return visit.finish(error_invalid_argument);
  if (!target) return visit.finish(otherwise);
  if (current_lie.lie == Lie::next_device) target = find_next(visit.scene(), *target);
  write_value(handle, make_handle(visit.driver(), *target));
  return visit.finish(success);
}

Status find_by_index(Call function, unsigned index, DeviceHandle* handle) {
  return find_handle(
      function, handle, error_invalid_argument, [&](const Scenario& scenario) -> const Device* {
        return index < scenario.devices.size() ? scenario.devices[index].get() : nullptr;
      });
}

bool has_uuid(const Device& device, const char* uuid) {
  return device.uuid.result == success && device.uuid.value == uuid;
}

const Device* find_by_uuid(const Scenario& scenario, const char* uuid) {
  for (const auto& device : scenario.devices) {
    if (has_uuid(*device, uuid)) return device.get();
    for (const auto& instance : device->instances)
      if (has_uuid(*instance, uuid)) return instance.get();
  }
  return nullptr;
}

Status find_by_bus(Call function, const char* text, DeviceHandle* handle) {
  unsigned domain = 0, bus = 0, slot = 0;
  const bool is_valid = text && std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3;
  return find_handle(function, handle, is_valid ? error_not_found : error_invalid_argument,
                     [&](const Scenario& scenario) -> const Device* {
                       for (const auto& device : scenario.devices) {
                         const auto& pci = device->pci.value;
                         if (is_valid && device->pci.result == success && pci.domain == domain &&
                             pci.bus == bus && pci.device == slot)
                           return device.get();
                       }
                       return nullptr;
                     });
}

Status read_text(Call function, DeviceHandle handle, Answer<std::string> Device::*member,
                 char* buffer, unsigned length) {
  return with_device(function, handle, [&](const Device& target, Visit&) {
    const auto& text = target.*member;
    return text.result == success ? write_text(text.value, buffer, length) : text.result;
  });
}

Status read_narrow_pci(Call function, DeviceHandle handle, PciInfoV2* pci) {
  return with_device(function, handle, [&](const Device& target, Visit&) {
    PciInfo wide_pci{};
    const Status result = write_answer(target.pci, pci ? &wide_pci : nullptr);
    if (result != success) return result;
    std::memcpy(pci->bus_id, wide_pci.bus_id_legacy, sizeof pci->bus_id);
    pci->domain = wide_pci.domain;
    pci->bus = wide_pci.bus;
    pci->device = wide_pci.device;
    pci->pci_device_id = wide_pci.pci_device_id;
    pci->pci_subsystem_id = wide_pci.pci_subsystem_id;
    return result;
  });
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlDeviceGetCount(unsigned* count) {
  return count_devices(Call::nvmlDeviceGetCount, count);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCount_v2(unsigned* count) {
  return count_devices(Call::nvmlDeviceGetCount_v2, count);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByIndex(unsigned index, DeviceHandle* handle) {
  return find_by_index(Call::nvmlDeviceGetHandleByIndex, index, handle);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle* handle) {
  return find_by_index(Call::nvmlDeviceGetHandleByIndex_v2, index, handle);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByUUID(const char* uuid, DeviceHandle* handle) {
  return find_handle(
      Call::nvmlDeviceGetHandleByUUID, handle, uuid ? error_not_found : error_invalid_argument,
      [&](const Scenario& scenario) { return uuid ? find_by_uuid(scenario, uuid) : nullptr; });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByPciBusId(const char* bus, DeviceHandle* handle) {
  return find_by_bus(Call::nvmlDeviceGetHandleByPciBusId, bus, handle);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByPciBusId_v2(const char* bus, DeviceHandle* handle) {
  return find_by_bus(Call::nvmlDeviceGetHandleByPciBusId_v2, bus, handle);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetName(DeviceHandle handle, char* text, unsigned length) {
  return read_text(Call::nvmlDeviceGetName, handle, &Device::name, text, length);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetUUID(DeviceHandle handle, char* text, unsigned length) {
  return read_text(Call::nvmlDeviceGetUUID, handle, &Device::uuid, text, length);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetSerial(DeviceHandle handle, char* text, unsigned length) {
  return read_text(Call::nvmlDeviceGetSerial, handle, &Device::serial, text, length);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetVbiosVersion(DeviceHandle handle, char* text,
                                                  unsigned length) {
  return read_text(Call::nvmlDeviceGetVbiosVersion, handle, &Device::vbios, text, length);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetIndex(DeviceHandle handle, unsigned* index) {
  return with_device(Call::nvmlDeviceGetIndex, handle, [&](const Device& target, Visit&) {
    if (!index) return error_invalid_argument;
    *index = target.parent ? target.slot : target.index;
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMinorNumber(DeviceHandle handle, unsigned* minor) {
  return read_member(Call::nvmlDeviceGetMinorNumber, handle, minor, &Device::minor);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPciInfo(DeviceHandle handle, PciInfoV2* pci) {
  return read_narrow_pci(Call::nvmlDeviceGetPciInfo, handle, pci);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPciInfo_v2(DeviceHandle handle, PciInfoV2* pci) {
  return read_narrow_pci(Call::nvmlDeviceGetPciInfo_v2, handle, pci);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPciInfo_v3(DeviceHandle handle, PciInfo* pci) {
  return read_member(Call::nvmlDeviceGetPciInfo_v3, handle, pci, &Device::pci);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetBrand(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetBrand, handle, value, &Device::brand);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetArchitecture(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetArchitecture, handle, value, &Device::architecture);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPersistenceMode(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetPersistenceMode, handle, value, &Device::persistence);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetVirtualizationMode(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetVirtualizationMode, handle, value, &Device::virtualization);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCudaComputeCapability(DeviceHandle handle, int* major,
                                                           int* minor) {
  return with_device(
      Call::nvmlDeviceGetCudaComputeCapability, handle, [&](const Device& target, Visit&) {
        const Status result = write_answer(target.compute_major, major);
        return result == success ? write_answer(target.compute_minor, minor) : result;
      });
}
