// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What context makes of the answers of its sources.
#pragma once

#include "core/limits.hpp"
#include "core/reply.hpp"
#include "core/snapshot.hpp"

namespace hmn {

inline void mark_stale(hmn::pools& all) {
  for (pool& p : all.all()) p.notes |= note::stale;
}
inline void mark_stale(hmn::telemetry& t) {
  t.notes |= note::stale;
}
inline void mark_stale(usage& u) {
  u.notes |= note::stale;
}
inline void mark_stale(std::vector<usage>& rows) {
  for (usage& u : rows) u.notes |= note::stale;
}
inline void mark_stale(std::vector<metric>& all) {
  for (metric& m : all) m.notes |= note::stale;
}

// What a part says in this reading: its value, an earlier one instead of a late answer or of one
// that is not asked for now, or why not.
template <class T>
result<dated<T>> part_of(const part<T>& p, const moment& m, const limits& l, source from) {
  const std::uint64_t now = platform::monotonic_ns();
  const bool reached = p.tried_ns >= m.since;
  if (reached && p.is_current()) return dated<T>{p.value, now - p.taken_ns};
  const bool is_late = !reached || p.why->code == status::timeout;
  const bool stands = reached && p.stands;
  if (p.taken_ns != 0 && (stands || (is_late && now - p.taken_ns <= l.stale_ns))) {
    dated<T> last{p.value, now - p.taken_ns};
    mark_stale(last.value);
    return last;
  }
  if (reached) return *p.why;
  return failure{status::timeout, from, {}, "the driver did not answer within the deadline"};
}

}  // namespace hmn
