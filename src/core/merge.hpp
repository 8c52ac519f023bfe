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
  explicit MergedDevice(const Device& device) : identity(device) {}

  Device identity;  // as numbered by the context
  hmn::PoolList pools;
  std::optional<hmn::Telemetry> telemetry;
  std::optional<Usage> self;
  std::optional<Usage> process;  // of plan.pid
  std::vector<Usage> processes;
  std::vector<Metric> metrics;
  std::uint32_t served_subjects = 0;    // subject bits: served by a source
  std::uint32_t complete_subjects = 0;  // subject bits: complete
  std::uint32_t fallback_subjects = 0;  // subject bits: by nvidia-smi where NVML failed
  bool can_be_summed = true;            // the process list is complete, and each row is_whole()
  // Failure of the first source that could not serve a subject, by the number of its bit.
  std::array<std::optional<Failure>, 8> failures;

  [[nodiscard]] std::optional<Failure>& subject_failure(std::uint32_t subject_bit) noexcept {
    return failures[static_cast<std::size_t>(__builtin_ctz(subject_bit))];
  }
  [[nodiscard]] const std::optional<Failure>& subject_failure(
      std::uint32_t subject_bit) const noexcept {
    return failures[static_cast<std::size_t>(__builtin_ctz(subject_bit))];
  }
};

// Returns whether the process's usage is completely known, so that it may be part of a total.
inline bool is_whole(const Usage& row) noexcept {
  return row.used && (row.has_all_clients || (row.notes & note::lower_bound) == 0);
}

// Completes the ages of a device's records.
void complete_ages(MergedDevice& device, std::uint64_t now_ns);

// Adds a source's answer for the device. The subject of a single process is `processes`.
void merge(MergedDevice& device, const DeviceCache& answer, const Plan& plan,
           const Freshness& freshness, const Limits& limits);

// Subjects and fields that a direct reading requests; a snapshot requests everything.
struct Selection {
  PoolKey pool;
  FieldSet pool_fields = 0;
  const hmn::Metric* metric = nullptr;  // its id and instance
};

// Returns whether no other source can contribute to the selection.
bool is_complete(const MergedDevice& device, const Plan& plan, const Selection& selection) noexcept;

// Drops the failures of subjects that another source has served.
void drop_served_failures(MergedDevice& device) noexcept;

}  // namespace hmn
