// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The rule for why a value is absent from a snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/snapshot.hpp"

namespace hmn {

// Identifies a value that may be missing: hmn_reason_key.
struct ReasonKey {
  std::uint32_t subject = 0;  // one bit of `subject`
  FieldSet field = 0;         // presence bits; for metrics, missing_metric(); 0: the whole subject
  std::uint32_t pid = 0;      // 0: no process in particular
  std::optional<PoolKey> pool = {};
};

// Returns the diagnostic that best explains why a value of a device (nullptr: of the host) is
// missing: one about the field, else about its subject on this device, else about the subject on
// all devices, else about its source; nullptr if there is none.
const SnapshotDiagnostic* find_reason(const Snapshot& snapshot, const ReasonKey& key,
                                      const Device* owner) noexcept;

// Returns the first diagnostic about the field. For a direct reading, whose diagnostics are all of
// one device.
const Diagnostic* find_reason(const std::vector<Diagnostic>& diagnostics, std::uint32_t subject,
                              FieldSet field) noexcept;

// Returns why a device has no values at all.
Failure state_failure(const Device& device);

// Returns the best diagnostic, or one that follows from the device's state.
SnapshotDiagnostic explain_absence(const Snapshot& snapshot, const ReasonKey& key,
                                   const Device* owner);

// Returns why a snapshot has nothing about a subject of a device (nullptr: of the host). The status
// is `empty`.
Failure explain_empty(const Snapshot& snapshot, std::uint32_t subject, const Device* device);

}  // namespace hmn
