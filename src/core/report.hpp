// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Changes between two snapshots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/snapshot.hpp"

namespace hmn {

// HMN_DELTA_SCOPE_* of the C interface; src/api asserts it.
enum class Scope : std::uint32_t {
  none = HMN_DELTA_SCOPE_NONE,
  process = HMN_DELTA_SCOPE_PROCESS,
  device = HMN_DELTA_SCOPE_DEVICE,
};

// Change between two snapshots: after minus before.
struct Delta {
  Source source = Source::none;
  std::uint32_t notes = 0;
  std::uint32_t device_index = 0;
  hmn::Scope scope = hmn::Scope::none;
  hmn::Accounting accounting = hmn::Accounting::none;
  std::optional<std::int64_t> memory_bytes;  // the caller's resident set
  std::optional<std::int64_t> device_bytes;
  std::uint64_t elapsed_ns = 0;
  std::optional<double> energy_joules;
};

Result<Delta> compare(const Snapshot& before, const Snapshot& after, std::uint32_t device_index);

// Appends "  label: RAM +100 MiB  |  VRAM +500 MiB [per-process]\n"; `unit` is the word for MiB.
Result<void> append_delta(std::string& out, const Snapshot& before, const Snapshot& after,
                          std::uint32_t device_index, std::string_view label,
                          std::string_view unit);

// Appends a line with both values for RAM, and one for VRAM.
Result<void> append_before_after(std::string& out, const Snapshot& before, const Snapshot& after,
                                 std::uint32_t device_index, std::string_view label,
                                 std::string_view unit);

}  // namespace hmn
