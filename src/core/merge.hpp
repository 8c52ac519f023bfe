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
void merge(device& best, const device& other);
void merge(telemetry& best, const telemetry& other);
void merge(pool& best, const pool& other);  // pools of one kind

// Answers of the sources for one device in one reading, merged in order of preference.
struct merged_device {
  merged_device() = default;
  explicit merged_device(const device& d) : identity(d) {}

  device identity;  // as numbered by the context
  hmn::pools pools;
  std::optional<hmn::telemetry> telemetry;
  std::optional<usage> self;
  std::optional<usage> process;  // of plan.pid
  std::vector<usage> processes;
  std::vector<metric> metrics;
  std::uint32_t answered = 0;   // subject bits: served by a source
  std::uint32_t found = 0;      // subject bits: complete
  std::uint32_t completed = 0;  // subject bits: by nvidia-smi where NVML failed
  bool can_be_summed = true;    // the process list is complete, and each row is_whole()
  // Failure of the first source that could not serve a subject, by the number of its bit.
  std::array<std::optional<failure>, 8> missing;

  [[nodiscard]] std::optional<failure>& missing_of(std::uint32_t subject_bit) noexcept {
    return missing[static_cast<std::size_t>(__builtin_ctz(subject_bit))];
  }
  [[nodiscard]] const std::optional<failure>& missing_of(std::uint32_t subject_bit) const noexcept {
    return missing[static_cast<std::size_t>(__builtin_ctz(subject_bit))];
  }
};

// Whether all that the process uses is known, so that it may be part of a total.
inline bool is_whole(const usage& row) noexcept {
  return row.used && (row.has_all_clients || (row.notes & note::lower_bound) == 0);
}

// Completes the ages of a device's records.
void end_reading(merged_device& d, std::uint64_t now_ns);

// Adds a source's answer for the device. The subject of a single process is `processes`.
void merge(merged_device& into, const device_cache& from, const plan& p, const moment& m,
           const limits& l);

// Subjects and fields that a direct reading wants; a snapshot wants everything.
struct selection {
  PoolKey pool;
  FieldSet pool_fields = 0;
  const hmn::metric* number = nullptr;  // its id and instance
};

// Returns whether no other source can contribute to the selection.
bool is_complete(const merged_device& d, const plan& p, const selection& wanted) noexcept;

// Drops from `missing` what another source served.
void drop_found(merged_device& d) noexcept;

}  // namespace hmn
