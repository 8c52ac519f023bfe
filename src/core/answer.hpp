// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/limits.hpp"
#include "model/plausible.hpp"
#include "source/interface.hpp"

namespace hmn {

// What a worker is asked to read.
struct Plan {
  bool list = false;
  bool pools = false;
  bool self = false;
  bool processes = false;
  bool metrics = false;
  bool slow = false;   // includes slow metrics
  bool quick = false;  // leaves out what a driver takes milliseconds for
  std::optional<Source> describe;
  FieldSet telemetry = 0;  // telemetry_field bits
  std::uint32_t pid = 0;   // reads this process alone, by process(); 0: none
  std::uint32_t own_pid = 0;
  std::optional<Slot> only;                                 // one device; none: all devices
  std::uint32_t device_classes = bit_of(DeviceClass::gpu);  // bit n: class n is listed
  bool wants_trace = false;
  std::uint64_t max_age_ns = 0;  // of an answer that a source may give again
  std::uint64_t begun_ns = 0;    // when the source was given it, in continuous_ns()

  [[nodiscard]] bool operator==(const Plan&) const = default;
};

// Times of answers are those of continuous_ns(), since they become ages; deadlines are of
// monotonic_ns().

// Last answer for a part of a device and, when the last attempt failed, the reason. Kept because a
// late or sleeping driver is answered for by earlier values.
template <class T>
struct Cached {
  T value{};
  std::uint64_t taken_ns = 0;  // when the value was read; 0: never
  std::uint64_t tried_ns = 0;  // when the last reading of it began; 0: never
  std::optional<Failure> why;
  bool stands = false;    // the value is kept although the last attempt failed: stale
  bool is_quick = false;  // the last reading left out what takes milliseconds

  void succeeded(std::uint64_t begun, std::uint64_t now) {
    tried_ns = begun;
    taken_ns = now;
    why.reset();
  }
  void failed(std::uint64_t begun, const Failure& f, bool value_stands) {
    tried_ns = begun;
    stands = value_stands;
    why = f;
  }
};

// Last answers for one device of a source.
struct DeviceCache {
  Device identity;
  bool listed = false;  // in the latest device list
  Cached<hmn::Pools> pools;
  Cached<hmn::Telemetry> telemetry;
  FieldSet telemetry_asked = 0;
  Cached<Usage> self;
  Cached<Usage> process;  // of plan.pid
  Cached<std::vector<Usage>> processes;
  Cached<std::vector<Metric>> metrics;
  bool slow_asked = false;
  EnergyHistory energy{};

  // Lets no part count as read or tried: the reading was cut short, and the gaps mean nothing.
  void forget_reading() noexcept;
};

// Last answers of a source, which outlive the reading that got them.
struct SourceCache {
  std::vector<DeviceCache> devices;
  std::vector<Diagnostic> diagnostics;  // of the last reading
  std::optional<Failure> refused;       // the last reading could not be served at all
  bool conclusive = false;              // refused because there is nothing to read
  bool rests = false;                   // the last reading let the devices sleep
  std::uint64_t listed_ns = 0;
  SourceState condition;
  std::vector<Device> found;  // kept, since a direct reading allocates nothing

  // Returns the entry of a device, and adds it if needed.
  [[nodiscard]] DeviceCache& entry_of(Slot number);
  // Take over the device list of a newer answer, what was read of one device, and how the reading
  // ended.
  void update_list(const SourceCache& fresh);
  void update_device(DeviceCache& fresh);
  void finish(SourceCache& fresh) noexcept;
};

// Time from which answers count for a reading, and whether the reading ran out of time and has to
// use partial and earlier answers.
struct Moment {
  std::uint64_t since = 0;
  bool late = false;
};

// Returns the earliest time of an answer that a reading beginning now may share. Never 0, which
// marks a value that was never read.
inline std::uint64_t shared_since(const Limits& l, std::uint64_t now) noexcept {
  return now > l.max_age_ns ? now - l.max_age_ns : 1;
}

// Returns whether every part of the plan was tried at or after `since`: for the device, or for each
// that the plan is about.
bool is_answered(const DeviceCache& d, const Plan& p, std::uint64_t since) noexcept;
bool is_answered(const SourceCache& known, const Plan& p, std::uint64_t since) noexcept;

// Returns whether the last reading, if all that is known is from one, serves the plan of a caller
// who arrived at `arrived`: each part was read at `since` or later. Only that reading's reasons are
// known, which a single value does not need; a refusal is shared by those who waited for it.
bool is_served(const Plan& p, const SourceCache& known, const std::optional<Plan>& last,
               std::uint64_t since, std::uint64_t arrived);

template <class Visit>
void each_record(hmn::Pools& all, Visit&& visit) {
  for (Pool& p : all.all()) visit(p);
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

// Age of a value at time 0 of the clock, modulo 2^64: the older, the larger. Records hold it until
// their reading ends, so that all ages refer to the same moment.
constexpr std::uint64_t age_at_zero(std::uint64_t taken_ns) noexcept {
  return 0 - taken_ns;
}

// Completes the ages of a part when its reading ends.
template <class Part>
void end_reading(Part& part, std::uint64_t now_ns) {
  each_record(part, [now_ns](auto& r) { r.age_ns += now_ns; });
}

inline Failure answered_too_late(Source from) noexcept {
  return {Status::timeout, from, {}, "the driver did not answer within the deadline"};
}

inline Failure why_cancelled() noexcept {
  return failed(Status::cancelled,
                "the context was cancelled: no call waits for a driver until it is resumed");
}

inline bool is_cancelled(const Failure& why) noexcept {
  return why.code == Status::cancelled;
}

// Returns whether only the time ran out: earlier values may then replace the answer.
inline bool is_late(const Failure& why) noexcept {
  return why.code == Status::timeout;
}

// Copies a part of a device for this reading, with its age at zero: the value just read; else,
// marked stale, an earlier one in place of a late or unrequested answer; else the reason for its
// absence.
template <class T>
Result<void> read_part(const Cached<T>& p, const Moment& m, const Limits& l, Source from, T& out) {
  const bool reached = p.tried_ns >= m.since;
  const bool is_fresh = reached && p.taken_ns != 0 && !p.why;
  if (!is_fresh) {
    const std::uint64_t age_ns = platform::continuous_ns() - p.taken_ns;
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
