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
using Slot = std::uint32_t;

enum class DeviceClass : std::uint32_t { HMN_DEVICE_CLASSES(HMN_ENUMERATOR) };

enum class DeviceForm : std::uint32_t { HMN_DEVICE_FORMS(HMN_ENUMERATOR) };

enum class MemoryKind : std::uint32_t { HMN_MEMORY_KINDS(HMN_ENUMERATOR) };

enum class State : std::uint32_t { HMN_STATES(HMN_ENUMERATOR) };

namespace vendor {
HMN_VENDORS(HMN_CONSTANT)
}  // namespace vendor

namespace device_field {
HMN_DEVICE_FIELDS(HMN_FIELD_BIT)
}  // namespace device_field

struct MigInstance {
  std::uint32_t gpu = 0;
  std::uint32_t compute = 0;

  bool operator==(const MigInstance&) const = default;
};

// Identity of a device. Empty texts are unknown. The context sets index and parent_index.
struct Device {
  Device() noexcept : device_class(hmn::DeviceClass::gpu) {}  // as most are

  HMN_DEVICE_FIELDS(HMN_MEMBER)
  Slot slot = 0;
  bool is_partition = false;   // a part of a GPU, such as a MIG instance
  std::optional<Slot> parent;  // of a partition; none: its source does not list it
  // Size of its memory, where the source or an earlier reading has it: one process cannot use more.
  std::optional<std::uint64_t> memory_total;
};

// Returns the bit of a class in a set of classes.
constexpr std::uint32_t device_class_bit(DeviceClass device_class) noexcept {
  return 1U << static_cast<std::uint32_t>(device_class);
}

#define HMN_CLASS_BIT(name, number, word) | 1U << (number)
constexpr std::uint32_t all_device_classes = 0 HMN_DEVICE_CLASSES(HMN_CLASS_BIT);
#undef HMN_CLASS_BIT

// Returns whether the device is split into partitions, which are listed as devices and hold its
// memory.
inline bool is_divided(const Device& device) noexcept {
  return (device.notes & note::divided) != 0;
}

}  // namespace hmn
