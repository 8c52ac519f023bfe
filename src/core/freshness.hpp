// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Freshness: which values belong to a reading, which are stale, and the age of each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

// Returns whether every part of the plan was tried at or after `since`: for the device, or for each
// that the plan is about.
bool is_answered(const device_cache& d, const plan& p, std::uint64_t since) noexcept;
bool is_answered(const source_cache& known, const plan& p, std::uint64_t since) noexcept;

// Returns whether the last reading, if all that is known is from one, serves the plan of a caller
// who arrived at `arrived`: each part was read at `since` or later. Only that reading's reasons are
// known, which a single value does not need; a refusal is shared by those who waited for it.
bool is_served(const plan& p, const source_cache& known, const std::optional<plan>& last,
               std::uint64_t since, std::uint64_t arrived);

// Calls `visit` for each record of a part.
template <class Visit>
void each_record(hmn::pools& all, Visit&& visit) {
  for (pool& p : all.all()) visit(p);
}
template <class T, class Visit>
void each_record(std::vector<T>& records, Visit&& visit) {
  for (T& r : records) visit(r);
}
template <class T, class Visit>
void each_record(std::optional<T>& record, Visit&& visit) {
  if (record) visit(*record);
}
template <class T, class Visit>
void each_record(T& record, Visit&& visit) {
  visit(record);
}

// Age of a value at time 0 of the clock, modulo 2^64: the older, the larger. Records have it until
// their reading ends, so that all ages count to one moment.
constexpr std::uint64_t age_at_zero(std::uint64_t taken_ns) noexcept {
  return 0 - taken_ns;
}

// Completes the ages of a part when its reading ends.
template <class Part>
void end_reading(Part& part, std::uint64_t now_ns) {
  each_record(part, [now_ns](auto& r) { r.age_ns += now_ns; });
}

inline failure answered_too_late(source from) noexcept {
  return {status::timeout, from, {}, "the driver did not answer within the deadline"};
}

// Returns whether only the time was over, so that earlier values replace the answer.
inline bool is_late(const failure& why) noexcept {
  return why.code == status::timeout;
}

// Copies a part of a device for this reading, with its age at zero: the value just read; else,
// marked stale, an earlier one in place of a late or unrequested answer; else the reason for its
// absence.
template <class T>
result<void> read_part(const cached<T>& p, const moment& m, const limits& l, source from, T& out) {
  const bool reached = p.tried_ns >= m.since;
  const bool is_fresh = reached && p.taken_ns != 0 && !p.why;
  if (!is_fresh) {
    const std::uint64_t age_ns = platform::monotonic_ns() - p.taken_ns;
    const bool is_young = (!reached || is_late(*p.why)) && age_ns <= l.stale_ns;
    if (p.taken_ns == 0 || !((reached && p.stands) || is_young)) {
      return reached ? *p.why : answered_too_late(from);
    }
  }
  out = p.value;
  each_record(out, [&](auto& r) {
    r.age_ns = age_at_zero(p.taken_ns);
    if (!is_fresh) r.notes |= note::stale;
  });
  return {};
}

}  // namespace hmn
