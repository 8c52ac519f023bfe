// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which values belong to a reading, which are stale, and how old each is.
#pragma once

#include <cstdint>

#include "core/answer.hpp"
#include "core/limits.hpp"

namespace hmn {

// Since when an answer belongs to a reading, and whether the reading ran out of time: then it has
// what was reached, and earlier answers.
struct moment {
  std::uint64_t since = 0;
  bool late = false;
};

// From when on an answer may be shared by a reading that begins now. Never 0, which stands for what
// was never read.
inline std::uint64_t shared_since(const limits& l, std::uint64_t now) noexcept {
  return now > l.max_age_ns ? now - l.max_age_ns : 1;
}

// Whether all that the plan asks of the device was tried at or after `since`.
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

// Copies what a part of a device holds for this reading, with its age: the value that was just
// read; else, marked stale, an earlier one in place of a late answer or of one that is not asked
// for now; else why there is none.
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
