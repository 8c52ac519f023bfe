// SPDX-License-Identifier: MIT OR Apache-2.0
#include <chrono>
#include <cstring>
#include <thread>

#include "driver.hpp"

namespace fake_nvml {
namespace {

constexpr std::uintptr_t set_mark = std::uintptr_t{0xE7} << 24;

EventSet* find_set(Driver& driver, EventSetHandle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  const auto it = driver.sets.find(static_cast<unsigned>(bits ^ set_mark));
  return bits >> 24 == set_mark >> 24 && it != driver.sets.end() ? &it->second : nullptr;
}

Status register_events(Driver& driver, const Device& target, unsigned long long types,
                       EventSetHandle handle) {
  const std::scoped_lock lock(driver.events);
  EventSet* const set = find_set(driver, handle);
  if (!set) return error_invalid_argument;
  if (target.event_types.result != success) return target.event_types.result;
  if (target.parent || (types & ~target.event_types.value) != 0) return error_not_supported;
  if (types & event_xid) set->registered.insert(target.identity);
  return success;
}

void raise_pending(Driver& driver, const Device& target) {
  if (target.is_raised.exchange(true)) return;
  for (const auto xid : target.xids) raise_xid(driver, target, xid);
}

Status wait_event(Call function, EventSetHandle handle, void* target, std::size_t size,
                  unsigned ms) {
  Visit visit(function);
  if (!visit.admit()) return visit.result();
  Driver& driver = visit.driver();
  const std::scoped_lock lock(driver.events);
  EventSet* const set = find_set(driver, handle);
  if (!set || !target) return visit.finish(error_invalid_argument);
  if (set->pending.empty()) {
    driver.waited_ms += ms;
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return visit.finish(error_timeout);
  }
  std::memcpy(target, &set->pending.front(), size);
  distort(target, size);
  set->pending.pop_front();
  return visit.finish(success);
}

}  // namespace

void raise_xid(Driver& driver, const Device& target, unsigned long long xid) {
  const std::scoped_lock lock(driver.events);
  for (auto& [number, set] : driver.sets) {
    if (!set.registered.contains(target.identity)) continue;
    set.pending.push_back({make_handle(driver, target), event_xid, xid, no_instance, no_instance});
  }
}

}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlDeviceGetSupportedEventTypes(DeviceHandle handle,
                                                         unsigned long long* types) {
  return read_member(Call::nvmlDeviceGetSupportedEventTypes, handle, types, &Device::event_types);
}

FAKE_NVML_EXPORT Status nvmlDeviceRegisterEvents(DeviceHandle handle, unsigned long long types,
                                                 EventSetHandle set) {
  return with_device(Call::nvmlDeviceRegisterEvents, handle,
                     [&](const Device& target, Visit& visit) {
                       const Status result = register_events(visit.driver(), target, types, set);
                       if (result == success) raise_pending(visit.driver(), target);
                       return result;
                     });
}

FAKE_NVML_EXPORT Status nvmlEventSetCreate(EventSetHandle* set) {
  Visit visit(Call::nvmlEventSetCreate);
  if (!visit.admit()) return visit.result();
  if (!set) return visit.finish(error_invalid_argument);
  const std::scoped_lock lock(visit.driver().events);
  const unsigned number = ++visit.driver().set_count;
  visit.driver().sets[number];
  write_value(set, reinterpret_cast<EventSetHandle>(set_mark | number));
  return visit.finish(success);
}

FAKE_NVML_EXPORT Status nvmlEventSetWait(EventSetHandle set, EventData* event, unsigned ms) {
  return wait_event(Call::nvmlEventSetWait, set, event, offsetof(EventData, gpu_instance), ms);
}

FAKE_NVML_EXPORT Status nvmlEventSetWait_v2(EventSetHandle set, EventData* event, unsigned ms) {
  return wait_event(Call::nvmlEventSetWait_v2, set, event, sizeof *event, ms);
}

FAKE_NVML_EXPORT Status nvmlEventSetFree(EventSetHandle set) {
  Visit visit(Call::nvmlEventSetFree);
  if (!visit.admit()) return visit.result();
  const std::scoped_lock lock(visit.driver().events);
  if (!find_set(visit.driver(), set)) return visit.finish(error_invalid_argument);
  visit.driver().sets.erase(
      static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(set) ^ set_mark));
  return visit.finish(success);
}
