// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The rule for why a value is absent from a snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/snapshot.hpp"

namespace hmn {

// Names a value that may be missing: hmn_reason_key.
struct ReasonKey {
  std::uint32_t about = 0;  // one bit of `subject`
  FieldSet field = 0;       // presence bits, for metrics a missing_metric(); 0: the whole subject
  std::uint32_t pid = 0;    // 0: no process in particular
  std::optional<PoolKey> pool = {};
};

// Returns the diagnostic that best explains why a value of a device, or with nullptr of the host,
// is missing: one about the field, else about its subject, on this device, else about the subject
// on all devices, else about its source; nullptr if there is none.
const SnapshotDiagnostic* find_reason(const Snapshot& from, const ReasonKey& key,
                                      const Device* owner) noexcept;

// The same for a direct reading, whose diagnostics are all of one device: the first about the
// field.
const Diagnostic* find_reason(const std::vector<Diagnostic>& from, std::uint32_t about,
                              FieldSet field) noexcept;

// Returns why a device has no values at all.
Failure reason_of_state(const Device& of);

// Returns the best diagnostic, or the reason that follows from the device's state.
SnapshotDiagnostic reason_for(const Snapshot& from, const ReasonKey& key, const Device* owner);

// Returns why a snapshot has nothing about a subject: of a device, or with nullptr of the host. The
// status is empty.
Failure why_empty(const Snapshot& from, std::uint32_t about, const Device* of);

}  // namespace hmn
