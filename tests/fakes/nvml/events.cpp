// SPDX-License-Identifier: MIT OR Apache-2.0
#include <chrono>
#include <cstring>
#include <thread>

#include "driver.hpp"

namespace fake_nvml {
namespace {

constexpr std::uintptr_t set_mark = std::uintptr_t{0xE7} << 24;

EventSet* set_of(Driver& d, EventSetHandle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  const auto found = d.sets.find(static_cast<unsigned>(bits ^ set_mark));
  return bits >> 24 == set_mark >> 24 && found != d.sets.end() ? &found->second : nullptr;
}

Status register_events(Driver& d, const Device& target, unsigned long long types,
                       EventSetHandle handle) {
  const std::scoped_lock lock(d.events);
  EventSet* const set = set_of(d, handle);
  if (!set) return error_invalid_argument;
  if (target.event_types.result != success) return target.event_types.result;
  if (target.parent || (types & ~target.event_types.value) != 0) return error_not_supported;
  if (types & event_xid) set->registered.insert(target.identity);
  return success;
}

void raise_those_of(Driver& d, const Device& target) {
  if (target.raised.exchange(true)) return;
  for (const auto xid : target.xids) raise_xid(d, target, xid);
}

Status wait_for(Call which, EventSetHandle handle, void* to, std::size_t size, unsigned ms) {
  Visit v(which);
  if (!v.admitted()) return v.result();
  Driver& d = v.home();
  const std::scoped_lock lock(d.events);
  EventSet* const set = set_of(d, handle);
  if (!set || !to) return v.done(error_invalid_argument);
  if (set->come.empty()) {
    d.waited_ms += ms;
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return v.done(error_timeout);
  }
  std::memcpy(to, &set->come.front(), size);
  distort(to, size);
  set->come.pop_front();
  return v.done(success);
}

}  // namespace

void raise_xid(Driver& d, const Device& target, unsigned long long xid) {
  const std::scoped_lock lock(d.events);
  for (auto& [number, set] : d.sets) {
    if (!set.registered.contains(target.identity)) continue;
    set.come.push_back({handle_of(d, target), event_xid, xid, no_instance, no_instance});
  }
}

}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlDeviceGetSupportedEventTypes(DeviceHandle h, unsigned long long* to) {
  return read(Call::nvmlDeviceGetSupportedEventTypes, h, to, &Device::event_types);
}

FAKE_NVML_EXPORT Status nvmlDeviceRegisterEvents(DeviceHandle h, unsigned long long types,
                                                 EventSetHandle set) {
  return on_device(Call::nvmlDeviceRegisterEvents, h, [&](const Device& target, Visit& v) {
    const Status result = register_events(v.home(), target, types, set);
    if (result == success) raise_those_of(v.home(), target);
    return result;
  });
}

FAKE_NVML_EXPORT Status nvmlEventSetCreate(EventSetHandle* to) {
  Visit v(Call::nvmlEventSetCreate);
  if (!v.admitted()) return v.result();
  if (!to) return v.done(error_invalid_argument);
  const std::scoped_lock lock(v.home().events);
  const unsigned number = ++v.home().sets_made;
  v.home().sets[number];
  put(to, reinterpret_cast<EventSetHandle>(set_mark | number));
  return v.done(success);
}

FAKE_NVML_EXPORT Status nvmlEventSetWait(EventSetHandle set, EventData* to, unsigned ms) {
  return wait_for(Call::nvmlEventSetWait, set, to, offsetof(EventData, gpu_instance), ms);
}

FAKE_NVML_EXPORT Status nvmlEventSetWait_v2(EventSetHandle set, EventData* to, unsigned ms) {
  return wait_for(Call::nvmlEventSetWait_v2, set, to, sizeof *to, ms);
}

FAKE_NVML_EXPORT Status nvmlEventSetFree(EventSetHandle set) {
  Visit v(Call::nvmlEventSetFree);
  if (!v.admitted()) return v.result();
  const std::scoped_lock lock(v.home().events);
  if (!set_of(v.home(), set)) return v.done(error_invalid_argument);
  v.home().sets.erase(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(set) ^ set_mark));
  return v.done(success);
}
