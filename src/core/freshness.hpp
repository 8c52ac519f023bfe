// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Freshness: which values belong to a reading, which are stale, and the age of each.
#pragma once

#include <cstdint>

#include "core/answer.hpp"
#include "core/limits.hpp"

namespace hmn {

// Time from which answers belong to a reading, and whether the reading ran out of time and falls
// back to partial and earlier answers.
struct moment {
  std::uint64_t since = 0;
  bool late = false;
};

// Returns the earliest time of an answer that a reading beginning now may share. Never 0, which
// marks a value that was never read.
inline std::uint64_t shared_since(const limits& l, std::uint64_t now) noexcept {
  return now > l.max_age_ns ? now - l.max_age_ns : 1;
}

// Returns whether every part of the plan was tried for the device at or after `since`.
bool is_answered(const device_answer& d, const plan& p, std::uint64_t since) noexcept;

inline void mark_stale(hmn::pools& all) noexcept {
  for (pool& p : all.all()) p.notes |= note::stale;
}
template <class T>
void mark_stale(T& record) noexcept {
  record.notes |= note::stale;
}
template <class T>
void mark_stale(std::vector<T>& records) noexcept {
  for (T& r : records) mark_stale(r);
}

inline void set_age(hmn::pools& all, std::uint64_t age_ns) noexcept {
  for (pool& p : all.all()) p.age_ns = age_ns;
}
template <class T>
void set_age(T& record, std::uint64_t age_ns) noexcept {
  record.age_ns = age_ns;
}
template <class T>
void set_age(std::vector<T>& records, std::uint64_t age_ns) noexcept {
  for (T& r : records) set_age(r, age_ns);
}

inline failure answered_too_late(source from) noexcept {
  return {status::timeout, from, {}, "the driver did not answer within the deadline"};
}

// Copies a part of a device for this reading, with its age: the value just read; else, marked
// stale, an earlier one in place of a late or unrequested answer; else the reason for its absence.
template <class T>
result<void> read_part(const part<T>& p, const moment& m, const limits& l, source from, T& out) {
  const std::uint64_t now = platform::monotonic_ns();
  const bool reached = p.tried_ns >= m.since;
  const bool is_fresh = reached && p.taken_ns != 0 && !p.why;
  if (!is_fresh) {
    const bool is_late = !reached || p.why->code == status::timeout;
    const bool is_young = is_late && now - p.taken_ns <= l.stale_ns;
    if (p.taken_ns == 0 || !((reached && p.stands) || is_young)) {
      return reached ? *p.why : answered_too_late(from);
    }
  }
  out = p.value;
  set_age(out, now - p.taken_ns);
  if (!is_fresh) mark_stale(out);
  return {};
}

}  // namespace hmn
