// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/answer.hpp"

#include <utility>

namespace hmn {
namespace {

template <class T>
void update(cached<T>& known, cached<T>& fresh) {
  if (fresh.tried_ns <= known.tried_ns) return;
  if (!fresh.why) {
    known.value = std::move(fresh.value);
    known.taken_ns = fresh.taken_ns;
  }
  known.tried_ns = fresh.tried_ns;
  known.why = fresh.why;
  known.stands = fresh.stands;
  known.is_quick = fresh.is_quick;
}

}  // namespace

device_cache& source_cache::entry_of(slot number) {
  const std::size_t count = number < end ? devices.size() : 0;
  for (std::size_t tried = 0; tried < count; ++tried) {
    if (devices[latest].identity.number == number) return devices[latest];
    if (++latest == count) latest = 0;
  }
  device_cache& added = devices.emplace_back();
  added.identity.number = number;
  end = number < end ? end : number + 1;
  return added;
}

void source_cache::update_list(const source_cache& fresh) {
  for (device_cache& known : devices) known.listed = false;
  for (const device_cache& d : fresh.devices) {
    device_cache& known = entry_of(d.identity.number);
    known.identity = d.identity;
    known.listed = d.listed;
  }
  listed_ns = fresh.listed_ns;
  refused.reset();
}

void source_cache::update_device(device_cache& fresh) {
  device_cache& known = entry_of(fresh.identity.number);
  known.identity.state = fresh.identity.state;
  update(known.pools, fresh.pools);
  update(known.telemetry, fresh.telemetry);
  known.telemetry_asked = fresh.telemetry_asked;
  known.telemetry_lacks = fresh.telemetry_lacks;
  update(known.self, fresh.self);
  update(known.process, fresh.process);
  update(known.processes, fresh.processes);
  update(known.metrics, fresh.metrics);
  known.slow_asked = fresh.slow_asked;
}

void source_cache::finish(source_cache& fresh) noexcept {
  diagnostics.swap(fresh.diagnostics);
  refused = fresh.refused;
  conclusive = fresh.conclusive;
  rests = fresh.rests;
  condition = std::move(fresh.condition);
}

}  // namespace hmn
