// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"
#include "fake_nvml.h"

using namespace fake_nvml;

namespace {

constexpr unsigned long long no_such_symbol = ~0ULL;

template <class Counters>
unsigned long long count(const Counters& counters, const char* symbol) {
  unsigned long long sum = 0;
  if (!symbol) {
    for (const auto& one : counters) sum += one.load();
    return sum;
  }
  const auto which = call_named(symbol);
  return which ? counters[static_cast<unsigned>(*which)].load() : no_such_symbol;
}

}  // namespace

FAKE_NVML_EXPORT int fake_nvml_load(const char* path_or_json) {
  return path_or_json && load(the_driver(), path_or_json) ? 0 : -1;
}

FAKE_NVML_EXPORT int fake_nvml_reload() {
  return refresh(the_driver(), true) ? 0 : -1;
}

FAKE_NVML_EXPORT const char* fake_nvml_problem() {
  return the_driver().problem.c_str();
}

FAKE_NVML_EXPORT void fake_nvml_reset() {
  auto& d = the_driver();
  fake_nvml_release();
  fake_nvml_fail(0, success);
  set_log(d, nullptr);
  end_sessions(d);
  for (auto& one : d.calls) one.store(0);
  for (auto& device : d.device_calls)
    for (auto& one : device) one.store(0);
  {
    const std::scoped_lock lock(d.events);
    d.waited_ms = 0;
  }
  const std::scoped_lock lock(d.loading);
  d.loaded.clear();
  d.problem.clear();
  d.broken.store(false);
  d.scene.store(nullptr);
}

FAKE_NVML_EXPORT unsigned long long fake_nvml_calls(const char* symbol) {
  return count(the_driver().calls, symbol);
}

FAKE_NVML_EXPORT unsigned long long fake_nvml_device_calls(const char* symbol, unsigned device) {
  if (device >= counted_devices) return no_such_symbol;
  return count(the_driver().device_calls[device], symbol);
}

FAKE_NVML_EXPORT int fake_nvml_initialized() {
  return the_driver().sessions.load();
}
FAKE_NVML_EXPORT unsigned fake_nvml_init_flags() {
  return the_driver().init_flags.load();
}
FAKE_NVML_EXPORT int fake_nvml_inside() {
  return the_driver().inside.load();
}
FAKE_NVML_EXPORT int fake_nvml_hanging() {
  return the_driver().hanging.load();
}
FAKE_NVML_EXPORT void fake_nvml_fail(unsigned long long number, int result) {
  the_driver().failure.store(static_cast<Status>(result));
  the_driver().calls_to_failure.store(number);
}
FAKE_NVML_EXPORT void fake_nvml_release() {
  the_driver().releases.fetch_add(1);
}
FAKE_NVML_EXPORT void fake_nvml_driver_reload() {
  end_sessions(the_driver());
}
FAKE_NVML_EXPORT int fake_nvml_raise(unsigned device, unsigned long long xid) {
  const Scenario* const scene = the_driver().scene.load();
  if (!scene || device >= scene->devices.size()) return -1;
  raise_xid(the_driver(), *scene->devices[device], xid);
  return 0;
}
FAKE_NVML_EXPORT int fake_nvml_event_sets() {
  const std::scoped_lock lock(the_driver().events);
  return static_cast<int>(the_driver().sets.size());
}
FAKE_NVML_EXPORT unsigned long long fake_nvml_waited_ms() {
  const std::scoped_lock lock(the_driver().events);
  return the_driver().waited_ms;
}
FAKE_NVML_EXPORT void fake_nvml_log(const char* path) {
  set_log(the_driver(), path);
}
