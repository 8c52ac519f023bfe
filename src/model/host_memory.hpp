// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/failure.hpp"
#include "model/usage.hpp"

namespace hmn {

// Presence bits of the C interface; src/api asserts it.
namespace process_memory_field {
inline constexpr std::uint32_t resident = 1U << 0;
inline constexpr std::uint32_t peak_resident = 1U << 1;
inline constexpr std::uint32_t virtual_size = 1U << 2;
inline constexpr std::uint32_t swap = 1U << 3;
inline constexpr std::uint32_t proportional = 1U << 4;
inline constexpr std::uint32_t private_set = 1U << 5;
inline constexpr std::uint32_t committed = 1U << 6;
inline constexpr std::uint32_t footprint = 1U << 7;
inline constexpr std::uint32_t peak_footprint = 1U << 8;
inline constexpr std::uint32_t peak_committed = 1U << 9;
inline constexpr std::uint32_t cheap = resident | virtual_size;
inline constexpr std::uint32_t all = (1U << 10) - 1;
}  // namespace process_memory_field

// Host RAM of one process, in bytes.
struct process_memory {
  std::uint32_t pid = 0;
  source from = source::none;
  std::uint32_t notes = 0;
  std::optional<std::uint64_t> resident;
  std::optional<std::uint64_t> peak_resident;
  std::optional<std::uint64_t> virtual_size;
  std::optional<std::uint64_t> swap;
  std::optional<std::uint64_t> proportional;
  std::optional<std::uint64_t> private_set;
  std::optional<std::uint64_t> committed;
  std::optional<std::uint64_t> footprint;
  std::optional<std::uint64_t> peak_footprint;
  std::optional<std::uint64_t> peak_committed;
};

// How short of memory the system itself says that it is.
enum class memory_pressure : std::uint32_t { unknown = 0, normal = 1, warning = 2, critical = 3 };

// The host's RAM and this container's share of it, in bytes.
struct system_memory {
  source from = source::none;
  std::uint32_t notes = 0;
  std::optional<std::uint64_t> total;
  std::optional<std::uint64_t> available;
  std::optional<std::uint64_t> swap_total;
  std::optional<std::uint64_t> swap_free;
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> limit_used;
  std::optional<std::uint64_t> commit_limit;
  std::optional<std::uint64_t> committed;
  std::optional<memory_pressure> pressure;
  std::optional<double> stall_percent;  // of 10 s
};

}  // namespace hmn
