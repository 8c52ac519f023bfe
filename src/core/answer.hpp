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

// What a worker is to read.
struct Plan {
  bool list = false;
  bool pools = false;
  bool self = false;
  bool processes = false;
  bool metrics = false;
  bool includes_slow = false;  // includes slow metrics
  bool is_quick = false;       // leaves out what a driver takes milliseconds for
  std::optional<Source> source_to_describe;
  FieldSet telemetry = 0;  // telemetry_field bits
  std::uint32_t pid = 0;   // reads this process alone, by process(); 0: none
  std::uint32_t own_pid = 0;
  std::optional<Slot> only_device;  // one device; none: all devices
  std::uint32_t device_classes = device_class_bit(DeviceClass::gpu);  // bit n: class n is listed
  bool wants_trace = false;
  std::uint64_t max_age_ns = 0;  // of an answer that a source may give again
  std::uint64_t start_ns = 0;    // when the source received it, in continuous_ns()

  [[nodiscard]] bool operator==(const Plan&) const = default;
};

// Times of answers are those of continuous_ns(), since they become ages; deadlines are of
// monotonic_ns().

// Last answer for a part of a device and, if the last attempt failed, the reason. Earlier values
// replace those of a late or sleeping driver.
template <class T>
struct CachedValue {
  T value{};
  std::uint64_t read_ns = 0;     // when the value was read; 0: never
  std::uint64_t attempt_ns = 0;  // when the last reading of it began; 0: never
  std::optional<Failure> failure;
  bool is_stale = false;  // the value remains valid, marked stale, although the last attempt failed
  bool is_quick = false;  // the last reading left out what takes milliseconds

  void set_success(std::uint64_t start_ns, std::uint64_t now) {
    attempt_ns = start_ns;
    read_ns = now;
    failure.reset();
  }
  void set_failure(std::uint64_t start_ns, const Failure& new_failure, bool value_is_stale) {
    attempt_ns = start_ns;
    is_stale = value_is_stale;
    failure = new_failure;
  }
};

// Last answers for one device of a source.
struct DeviceCache {
  Device identity;
  bool is_listed = false;  // in the latest device list
  CachedValue<hmn::PoolList> pools;
  CachedValue<hmn::Telemetry> telemetry;
  FieldSet telemetry_fields = 0;
  CachedValue<Usage> self;
  CachedValue<Usage> process;  // of plan.pid
  CachedValue<std::vector<Usage>> processes;
  CachedValue<std::vector<Metric>> metrics;
  bool has_slow_metrics = false;
  EnergyHistory energy{};

  // Marks every part as not attempted: the reading was cut short, and its gaps mean nothing.
  void forget_reading() noexcept;
};

// Last answers of a source, which outlive the reading that got them.
struct SourceCache {
  std::vector<DeviceCache> devices;
  std::vector<Diagnostic> diagnostics;  // of the last reading
  std::optional<Failure> refusal;       // the last reading could not be served at all
  bool is_conclusive = false;           // refused because there is nothing to read
  bool is_suspended = false;            // the last reading let the devices stay suspended
  std::uint64_t list_ns = 0;
  SourceState source_state;
  std::vector<Device> device_buffer;  // kept, since a direct reading allocates nothing

  // Returns the entry of a device, and adds it if needed.
  [[nodiscard]] DeviceCache& find_or_add_device(Slot slot);
  // Copy the device list of a newer answer, the parts of one device, and the outcome of the
  // reading.
  void update_list(const SourceCache& newer);
  void update_device(DeviceCache& newer);
  void finish(SourceCache& newer) noexcept;
};

// Time from which answers count for a reading, and whether the reading ran out of time and has to
// use partial and earlier answers.
struct Freshness {
  std::uint64_t since_ns = 0;
  bool is_late = false;
};

// Returns the time of the oldest answer that a reading starting now may share. Never 0, which marks
// a value that was never read.
inline std::uint64_t oldest_shareable_ns(const Limits& limits, std::uint64_t now) noexcept {
  return now > limits.max_age_ns ? now - limits.max_age_ns : 1;
}

// Returns whether every part of the plan was tried at or after `since`: for the device, or for each
// that the plan is about.
bool is_answered(const DeviceCache& device, const Plan& plan, std::uint64_t since_ns) noexcept;
bool is_answered(const SourceCache& cache, const Plan& plan, std::uint64_t since_ns) noexcept;

// Returns whether the cached answers, if all are from one reading with `last_plan`, serve a caller
// who arrived at `arrival_ns`: each part was read at `since_ns` or later. Only that reading's
// reasons are known, which a single value does not need; a refusal is shared by those who waited
// for it.
bool is_served(const Plan& plan, const SourceCache& cache, const std::optional<Plan>& last_plan,
               std::uint64_t since_ns, std::uint64_t arrival_ns);

template <class Visit>
void for_each_record(hmn::PoolList& pools, Visit&& visit) {
  for (Pool& p : pools.all()) visit(p);
}
template <class T, class Visit>
void for_each_record(std::vector<T>& records, Visit&& visit) {
  for (T& r : records) visit(r);
}
template <class T, class Visit>
void for_each_record(std::optional<T>& record, Visit&& visit) {
  if (record) visit(*record);
}
template <class T, class Visit>
void for_each_record(T& record, Visit&& visit) {
  visit(record);
}

// Age of a value at time 0 of the clock, modulo 2^64: the older, the larger. Records hold it until
// their reading ends, so that all ages refer to the same moment.
constexpr std::uint64_t age_at_zero(std::uint64_t read_ns) noexcept {
  return 0 - read_ns;
}

// Completes the ages of a part when its reading ends.
template <class Part>
void complete_ages(Part& part, std::uint64_t now_ns) {
  for_each_record(part, [now_ns](auto& r) { r.age_ns += now_ns; });
}

inline Failure timeout_failure(Source source) noexcept {
  return {Status::timeout, source, {}, "the driver did not answer within the deadline"};
}

inline Failure cancelled_failure() noexcept {
  return make_failure(Status::cancelled,
                      "the context was cancelled: no call waits for a driver until it is resumed");
}

inline bool is_cancelled(const Failure& failure) noexcept {
  return failure.code == Status::cancelled;
}

// Returns whether only the time ran out: earlier values may then replace the answer.
inline bool is_late(const Failure& failure) noexcept {
  return failure.code == Status::timeout;
}

// Copies a part of a device for this reading, with its age at time zero: the value just read; else
// an earlier one, marked stale, in place of a late or suspended answer. Fails with the reason for
// its absence.
template <class T>
Result<void> copy_part(const CachedValue<T>& part, const Freshness& freshness, const Limits& limits,
                       Source source, T& out) {
  const bool was_attempted = part.attempt_ns >= freshness.since_ns;
  const bool is_fresh = was_attempted && part.read_ns != 0 && !part.failure;
  if (!is_fresh) {
    const std::uint64_t age_ns = platform::continuous_ns() - part.read_ns;
    const bool is_recent = (!was_attempted || is_late(*part.failure)) && age_ns <= limits.stale_ns;
    if (part.read_ns == 0 || !((was_attempted && part.is_stale) || is_recent)) {
      return was_attempted ? *part.failure : timeout_failure(source);
    }
  }
  out = part.value;
  for_each_record(out, [&](auto& r) {
    r.age_ns = age_at_zero(part.read_ns);
    if (!is_fresh) r.notes |= note::stale;
  });
  return {};
}

}  // namespace hmn
