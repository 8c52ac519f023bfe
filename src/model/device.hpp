// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/failure.hpp"
#include "model/note.hpp"
#include "model/tables.hpp"
#include "model/text.hpp"

namespace hmn {

// Source-specific number of a device, assigned when first seen and constant for the lifetime of the
// source, even across a reload of its driver.
using slot = std::uint32_t;

enum class device_kind : std::uint32_t { HMN_DEVICE_KINDS(HMN_ENUMERATOR) };

enum class memory_kind : std::uint32_t { HMN_MEMORY_KINDS(HMN_ENUMERATOR) };

enum class state : std::uint32_t { HMN_STATES(HMN_ENUMERATOR) };

namespace vendor {
HMN_VENDORS(HMN_CONSTANT)
}  // namespace vendor

namespace device_field {
HMN_DEVICE_FIELDS(HMN_FIELD_BIT)
}  // namespace device_field

struct mig_instance {
  std::uint32_t gpu = 0;
  std::uint32_t compute = 0;

  bool operator==(const mig_instance&) const = default;
};

// Identity of a device. Empty texts are unknown. The context sets index and parent_index.
struct device {
  HMN_DEVICE_FIELDS(HMN_MEMBER)
  slot number = 0;
  std::optional<slot> parent;
  // Size of its memory, where the source or an earlier reading has it: one process cannot use more.
  std::optional<std::uint64_t> memory_total;
};

inline bool is_partition(const device& d) noexcept {
  return d.kind == device_kind::partition;
}

// Returns whether partitions of the device are devices of their own, which have its memory.
inline bool is_divided(const device& d) noexcept {
  return (d.notes & note::divided) != 0;
}

}  // namespace hmn
