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
    for (const auto& counter : counters) sum += counter.load();
    return sum;
  }
  const auto function = find_function(symbol);
  return function ? counters[static_cast<unsigned>(*function)].load() : no_such_symbol;
}

}  // namespace

FAKE_NVML_EXPORT int fake_nvml_load(const char* path_or_json) {
  return path_or_json && load(get_driver(), path_or_json) ? 0 : -1;
}

FAKE_NVML_EXPORT int fake_nvml_reload() {
  return refresh(get_driver(), true) ? 0 : -1;
}

FAKE_NVML_EXPORT const char* fake_nvml_problem() {
  return get_driver().problem.c_str();
}

FAKE_NVML_EXPORT void fake_nvml_reset() {
  auto& driver = get_driver();
  fake_nvml_release();
  fake_nvml_fail(0, success);
  set_log(driver, nullptr);
  end_sessions(driver);
  for (auto& counter : driver.calls) counter.store(0);
  for (auto& device : driver.device_calls)
    for (auto& counter : device) counter.store(0);
  {
    const std::scoped_lock lock(driver.events);
    driver.waited_ms = 0;
  }
  const std::scoped_lock lock(driver.loading);
  driver.loaded.clear();
  driver.problem.clear();
  driver.broken.store(false);
  driver.scene.store(nullptr);
}

FAKE_NVML_EXPORT unsigned long long fake_nvml_calls(const char* symbol) {
  return count(get_driver().calls, symbol);
}

FAKE_NVML_EXPORT unsigned long long fake_nvml_device_calls(const char* symbol, unsigned device) {
  if (device >= counted_devices) return no_such_symbol;
  return count(get_driver().device_calls[device], symbol);
}

FAKE_NVML_EXPORT int fake_nvml_initialized() {
  return get_driver().sessions.load();
}
FAKE_NVML_EXPORT unsigned fake_nvml_init_flags() {
  return get_driver().init_flags.load();
}
FAKE_NVML_EXPORT int fake_nvml_inside() {
  return get_driver().inside.load();
}
FAKE_NVML_EXPORT int fake_nvml_hanging() {
  return get_driver().hanging.load();
}
FAKE_NVML_EXPORT void fake_nvml_fail(unsigned long long number, int result) {
  get_driver().failure.store(static_cast<Status>(result));
  get_driver().calls_to_failure.store(number);
}
FAKE_NVML_EXPORT void fake_nvml_release() {
  get_driver().releases.fetch_add(1);
}
FAKE_NVML_EXPORT void fake_nvml_driver_reload() {
  end_sessions(get_driver());
}
FAKE_NVML_EXPORT int fake_nvml_raise(unsigned device, unsigned long long xid) {
  const Scenario* const scene = get_driver().scene.load();
  if (!scene || device >= scene->devices.size()) return -1;
  raise_xid(get_driver(), *scene->devices[device], xid);
  return 0;
}
FAKE_NVML_EXPORT int fake_nvml_event_sets() {
  const std::scoped_lock lock(get_driver().events);
  return static_cast<int>(get_driver().sets.size());
}
FAKE_NVML_EXPORT unsigned long long fake_nvml_waited_ms() {
  const std::scoped_lock lock(get_driver().events);
  return get_driver().waited_ms;
}
FAKE_NVML_EXPORT void fake_nvml_log(const char* path) {
  set_log(get_driver(), path);
}
