// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/source_reader.hpp"

#include <algorithm>

namespace hmn {
namespace {

template <class T>
void adopt(part<T>& known, part<T>& fresh) {
  if (fresh.tried_ns == known.tried_ns) return;
  if (fresh.taken_ns != known.taken_ns) known.value = std::move(fresh.value);
  known.taken_ns = fresh.taken_ns;
  known.tried_ns = fresh.tried_ns;
  known.why = fresh.why;
}

void adopt(device_reply& known, device_reply& fresh) {
  known.identity = fresh.identity;
  known.listed = fresh.listed;
  adopt(known.pools, fresh.pools);
  adopt(known.telemetry, fresh.telemetry);
  known.telemetry_asked = fresh.telemetry_asked;
  adopt(known.self, fresh.self);
  adopt(known.process, fresh.process);
  adopt(known.processes, fresh.processes);
}

bool is_young(const device_reply& d, const plan& p, std::uint64_t since) {
  const bool telemetry_fits = (p.telemetry & ~d.telemetry_asked) == 0;
  return (!p.pools || d.pools.tried_ns >= since) && (!p.self || d.self.tried_ns >= since) &&
         (!p.processes || d.processes.tried_ns >= since) &&
         (p.pid == 0 || (d.process.tried_ns >= since && d.process.value.pid == p.pid)) &&
         (p.telemetry == 0 || (d.telemetry.tried_ns >= since && telemetry_fits));
}

}  // namespace

source_reader::source_reader(listed_source listed, const settings& s, const limits& l)
    : limits_(l), stands_in_(listed.stands_in), lane_(std::move(listed.device), s) {}

result<void> source_reader::run(const plan& p, budget& b, look at) {
  const std::uint64_t begun = platform::monotonic_ns();
  const timed_guard turn(turn_, b.until());
  if (!turn) {
    show(at, UINT64_MAX);
    return is_opening() ? still_opening() : too_late();
  }
  if (is_young_enough(p, begun)) {
    show(at, young_since(begun));
    return outcome_of_last();
  }
  result<void> asked = ask(p, b);
  show(at, asked ? begun : UINT64_MAX);
  return asked ? outcome_of_last() : asked;
}

void source_reader::show(look at, std::uint64_t fresh_since) {
  const std::lock_guard lock(known_mutex_);
  at(known_, fresh_since);
}

bool source_reader::is_young_enough(const plan& p, std::uint64_t now) const {
  if (limits_.max_age_ns == 0 || p.describe || known_.refused || known_.listed_ns == 0) return false;
  const std::uint64_t since = young_since(now);
  if (p.list && known_.listed_ns < since) return false;
  return std::all_of(known_.devices.begin(), known_.devices.end(), [&](const device_reply& d) {
    const bool wanted = p.only ? d.identity.number == *p.only : d.listed;
    return !wanted || is_young(d, p, since);
  });
}

result<void> source_reader::ask(const plan& p, budget& b) {
  if (unpublished_ && lane_.is_idle()) publish();
  if (known_.refused || known_.listed_ns == 0) {
    if (result<void> here = lane_.probe(); !here) {
      const std::lock_guard lock(known_mutex_);
      known_.refused = std::move(here.why());
      known_.conclusive = true;
      known_.remarks.clear();
      return {};
    }
  }
  const bool was_opening = lane_.is_opening();
  switch (lane_.run(p, b)) {
    case lane::outcome::done: publish(); return {};
    case lane::outcome::late: unpublished_ = true; return is_opening() ? still_opening() : too_late();
    case lane::outcome::busy: return was_opening ? still_opening() : too_late();
    case lane::outcome::no_thread: break;
  }
  return failure{status::limit, id(), {}, "no thread could be started to ask the driver on"};
}

result<void> source_reader::outcome_of_last() const {
  return known_.refused ? result<void>(*known_.refused) : result<void>();
}

failure source_reader::too_late() const {
  return {status::timeout, id(), {}, "the driver did not answer within the deadline"};
}

failure source_reader::still_opening() const {
  return {status::timeout, id(), {},
          "the driver is still being opened; persistence mode (nvidia-persistenced) keeps it ready"};
}

void source_reader::publish() {
  const std::lock_guard lock(known_mutex_);
  unpublished_ = false;
  reply& fresh = lane_.answer();
  for (device_reply& d : fresh.devices) {
    if (device_reply* known = known_.find(d.identity.number)) {
      adopt(*known, d);
    } else {
      adopt(known_.devices.emplace_back(), d);
    }
  }
  known_.remarks.swap(fresh.remarks);
  known_.refused = fresh.refused;
  known_.conclusive = fresh.conclusive;
  known_.listed_ns = fresh.listed_ns;
  known_.condition = fresh.condition;
}

}  // namespace hmn
