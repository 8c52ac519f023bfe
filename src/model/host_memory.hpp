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
inline constexpr FieldSet cheap = resident | virtual_size;
inline constexpr FieldSet all = 0 HMN_PROCESS_MEMORY_FIELDS(HMN_OR_BIT);
}  // namespace process_memory_field

// Host RAM of one process, in bytes.
struct ProcessMemory {
  HMN_PROCESS_MEMORY_FIELDS(HMN_MEMBER)
};

// The values that need only system calls.
struct MemorySizes {
  std::uint64_t resident = 0;
  std::uint64_t virtual_size = 0;
};

// Memory pressure as the system itself reports it.
enum class MemoryPressure : std::uint32_t { HMN_PRESSURES(HMN_ENUMERATOR) };

namespace system_memory_field {
HMN_SYSTEM_MEMORY_FIELDS(HMN_FIELD_BIT)
}  // namespace system_memory_field

// RAM of the host and this container's share of it, in bytes.
struct SystemMemory {
  HMN_SYSTEM_MEMORY_FIELDS(HMN_MEMBER)
  // Not in hmn_system_memory: what the limits leave, where that is not limit - limit_used.
  std::optional<std::uint64_t> limit_left;
};

}  // namespace hmn
