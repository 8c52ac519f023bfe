// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/device.hpp"
#include "model/failure.hpp"
#include "model/note.hpp"
#include "model/usage_sum.hpp"

namespace hmn {

namespace usage_kind {
HMN_USAGE_KINDS(HMN_CONSTANT)
}  // namespace usage_kind

namespace usage_field {
HMN_USAGE_FIELDS(HMN_FIELD_BIT, HMN_NOTHING)
}  // namespace usage_field

enum class NameState : std::uint32_t { HMN_NAME_STATES(HMN_ENUMERATOR) };

// Use of one device by one process. A source fills pid and the device's values; core fills the
// others from the host (name, start, owner, resident set) where the source left them unknown.
struct Usage {
#define HMN_TEXT(member) std::string member;
  HMN_USAGE_FIELDS(HMN_MEMBER, HMN_TEXT)
#undef HMN_TEXT
  // UTF-8, with arguments separated by blanks; empty: not requested, or unknown.
  std::string command;
  // What this row adds to totals over a list, client by client: one that several processes hold
  // counts with the first of them.
  struct ClientTotals {
    std::uint32_t count = 0;
    UsageSum used, not_resident, evicted, host_pool;
  };
  std::optional<ClientTotals> clients;
  // `clients` has all that the process holds: if `used` is a lower bound, it is because they share.
  bool has_all_clients = false;
  // Set for a process that the driver no longer lists but still accounts for; only peak_used is
  // known.
  std::optional<std::uint64_t> accounted_since_ns;
};

// Marks a value as a lower bound where a list it comes from is incomplete. A row without a value is
// in no sum anyway.
inline void mark_lower_bound(Usage& row) noexcept {
  row.has_all_clients = false;
  if (row.used) row.notes |= note::lower_bound;
}

// Marks the rows of an incomplete list. Fails for one without rows, which proves nothing.
inline Result<void> mark_incomplete(std::span<Usage> rows, const Failure& failure) {
  if (rows.empty()) return failure;
  for (Usage& row : rows) mark_lower_bound(row);
  return {};
}

// Fill the unknown fields of a row from another row of its process.
inline void fill_identity(Usage& row, const Usage& process) {
  if (row.name_state == NameState::unknown) {
    row.name_state = process.name_state;
    row.name = process.name;
  }
  if (!row.uid) row.uid = process.uid;
  if (!row.start_unix_ns) row.start_unix_ns = process.start_unix_ns;
  if (!row.process_key) row.process_key = process.process_key;
  if (!row.host_resident) row.host_resident = process.host_resident;
}

inline void fill_texts(Usage& row, const Usage& process) {
  if (row.command.empty()) row.command = process.command;
  if (row.container.empty()) row.container = process.container;
}

}  // namespace hmn
