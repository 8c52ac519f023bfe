// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/board.hpp"

#include <utility>

namespace hmn {
namespace {

template <class T>
void adopt(part<T>& known, part<T>& fresh) {
  if (fresh.tried_ns == known.tried_ns) return;
  if (fresh.taken_ns != known.taken_ns) known.value = std::move(fresh.value);
  known.taken_ns = fresh.taken_ns;
  known.tried_ns = fresh.tried_ns;
  known.why = fresh.why;
  known.stands = fresh.stands;
}

void adopt(device_reply& known, device_reply& fresh) {
  adopt(known.pools, fresh.pools);
  adopt(known.telemetry, fresh.telemetry);
  known.telemetry_asked = fresh.telemetry_asked;
  adopt(known.self, fresh.self);
  adopt(known.process, fresh.process);
  adopt(known.processes, fresh.processes);
  adopt(known.metrics, fresh.metrics);
  known.slow_asked = fresh.slow_asked;
}

device_reply& entry_of(reply& known, slot number) {
  if (device_reply* found = known.find(number)) return *found;
  device_reply& added = known.devices.emplace_back();
  added.identity.number = number;
  return added;
}

}  // namespace

void board::take_list(const reply& fresh) {
  const std::lock_guard lock(mutex_);
  for (const device_reply& d : fresh.devices) {
    device_reply& known = entry_of(known_, d.identity.number);
    known.identity = d.identity;
    known.listed = d.listed;
  }
  known_.listed_ns = fresh.listed_ns;
  known_.refused.reset();
}

void board::take_device(device_reply& fresh) {
  const std::lock_guard lock(mutex_);
  device_reply& known = entry_of(known_, fresh.identity.number);
  adopt(known, fresh);
}

void board::finish(reply& fresh) noexcept {
  const std::lock_guard lock(mutex_);
  known_.remarks.swap(fresh.remarks);
  known_.refused = std::move(fresh.refused);
  known_.conclusive = fresh.conclusive;
  known_.condition = std::move(fresh.condition);
}

void board::refuse(failure why) noexcept {
  const std::lock_guard lock(mutex_);
  known_.conclusive = why.code == status::no_source;
  known_.refused = std::move(why);
  known_.remarks.clear();
}

}  // namespace hmn
