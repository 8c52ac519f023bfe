// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/failure.hpp"
#include "model/usage.hpp"

namespace hmn {

namespace process_memory_field {
HMN_PROCESS_MEMORY_FIELDS(HMN_FIELD_BIT)
inline constexpr std::uint32_t cheap = resident | virtual_size;
inline constexpr std::uint32_t all = 0 HMN_PROCESS_MEMORY_FIELDS(HMN_OR_BIT);
}  // namespace process_memory_field

// Host RAM of one process, in bytes.
struct process_memory {
  HMN_PROCESS_MEMORY_FIELDS(HMN_MEMBER)
};

// How short of memory the system itself says that it is.
enum class memory_pressure : std::uint32_t { HMN_PRESSURES(HMN_ENUMERATOR) };

// The host's RAM and this container's share of it, in bytes.
struct system_memory {
  HMN_SYSTEM_MEMORY_FIELDS(HMN_MEMBER)
};

}  // namespace hmn
