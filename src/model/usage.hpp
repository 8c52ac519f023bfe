// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/device.hpp"
#include "model/note.hpp"

namespace hmn {

namespace usage_kind {
inline constexpr std::uint32_t compute = 1U << 0;
inline constexpr std::uint32_t graphics = 1U << 1;
inline constexpr std::uint32_t media = 1U << 2;
}  // namespace usage_kind

// Presence bits of the C interface; src/api asserts it.
namespace usage_field {
inline constexpr std::uint32_t used = 1U << 0;
inline constexpr std::uint32_t allocated = 1U << 3;
inline constexpr std::uint32_t busy_percent = 1U << 11;
inline constexpr std::uint32_t peak_used = 1U << 16;
}  // namespace usage_field

enum class name_state : std::uint32_t {
  unknown = 0,
  resolved = 1,
  exited = 2,
  protected_process = 3,
  kernel = 4,
};

// One process on one device. A source fills pid and device figures; core fills the rest from the
// host (name, start, owner, resident set) where the source left it unknown.
struct usage {
  std::uint32_t pid = 0;
  source from = source::none;
  std::uint32_t notes = 0;
  hmn::accounting accounting = hmn::accounting::none;
  std::optional<std::uint32_t> kinds;
  std::optional<mig_instance> instance;
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> peak_used;  // as the driver keeps it, never sampled
  std::optional<std::uint64_t> resident;
  std::optional<std::uint64_t> committed;
  std::optional<std::uint64_t> allocated;
  std::optional<std::uint64_t> shared;
  std::optional<std::uint64_t> purgeable;
  std::optional<std::uint64_t> evicted;
  std::optional<std::uint64_t> host_pool;
  std::optional<std::uint64_t> budget;
  std::optional<std::uint64_t> busy_ns;
  std::optional<double> busy_percent;
  std::uint64_t window_ns = 0;  // what busy_percent averages over
  std::optional<std::uint64_t> host_resident;
  std::optional<std::uint64_t> start_unix_ns;
  // The driver lists no such process, and has kept its account since then: peak_used alone.
  std::optional<std::uint64_t> counted_since_ns;
  std::optional<std::uint32_t> uid;
  hmn::name_state name_state = hmn::name_state::unknown;
  std::string name;       // UTF-8; empty unless resolved
  std::string command;    // UTF-8, its arguments between blanks; empty: not asked for, or unknown
  std::string container;  // "docker:<id>"; empty: not asked for, or in none that can be told
};

}  // namespace hmn
