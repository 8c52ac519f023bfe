// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Merges what several sources report of one device: each value from the best source that has it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/answer.hpp"
#include "core/limits.hpp"

namespace hmn {

// Fill the gaps of `best` from `other`.
void merge(Device& best, const Device& other);
void merge(Telemetry& best, const Telemetry& other);
void merge(Pool& best, const Pool& other);  // pools of one kind

// Answers of the sources for one device in one reading, merged in order of preference.
struct MergedDevice {
  MergedDevice() = default;
  explicit MergedDevice(const Device& d) : identity(d) {}

  Device identity;  // as numbered by the context
  hmn::Pools pools;
  std::optional<hmn::Telemetry> telemetry;
  std::optional<Usage> self;
  std::optional<Usage> process;  // of plan.pid
  std::vector<Usage> processes;
  std::vector<Metric> metrics;
  std::uint32_t answered = 0;   // subject bits: served by a source
  std::uint32_t found = 0;      // subject bits: complete
  std::uint32_t completed = 0;  // subject bits: by nvidia-smi where NVML failed
  bool can_be_summed = true;    // the process list is complete, and each row is_whole()
  // Failure of the first source that could not serve a subject, by the number of its bit.
  std::array<std::optional<Failure>, 8> missing;

  [[nodiscard]] std::optional<Failure>& missing_of(std::uint32_t subject_bit) noexcept {
    return missing[static_cast<std::size_t>(__builtin_ctz(subject_bit))];
  }
  [[nodiscard]] const std::optional<Failure>& missing_of(std::uint32_t subject_bit) const noexcept {
    return missing[static_cast<std::size_t>(__builtin_ctz(subject_bit))];
  }
};

// Whether all that the process uses is known, so that it may be part of a total.
inline bool is_whole(const Usage& row) noexcept {
  return row.used && (row.has_all_clients || (row.notes & note::lower_bound) == 0);
}

// Completes the ages of a device's records.
void end_reading(MergedDevice& d, std::uint64_t now_ns);

// Adds a source's answer for the device. The subject of a single process is `processes`.
void merge(MergedDevice& into, const DeviceCache& from, const Plan& p, const Moment& m,
           const Limits& l);

// Subjects and fields that a direct reading wants; a snapshot wants everything.
struct Selection {
  PoolKey pool;
  FieldSet pool_fields = 0;
  const hmn::Metric* number = nullptr;  // its id and instance
};

// Returns whether no other source can contribute to the selection.
bool is_complete(const MergedDevice& d, const Plan& p, const Selection& wanted) noexcept;

// Drops from `missing` what another source served.
void drop_found(MergedDevice& d) noexcept;

}  // namespace hmn
