// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/device.hpp"
#include "model/diagnostic.hpp"
#include "model/group_memory.hpp"
#include "model/host_memory.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"
#include "model/usage.hpp"

namespace hmn {

// Value that its first owner writes, and that is read-only once copies share it.
template <class T>
class SharedValue {
 public:
  SharedValue() : value_(std::make_shared<T>()) {}
  explicit SharedValue(const T& value) : value_(std::make_shared<T>(value)) {}

  const T& operator*() const noexcept { return *value_; }
  const T* operator->() const noexcept { return value_.get(); }
  // Only before it is shared.
  T& edit() noexcept { return *value_; }

 private:
  std::shared_ptr<T> value_;
};

// Returns the part of a list, sorted by device index, that is about one device.
template <class T>
std::span<const T> select_device(const std::vector<T>& records, std::uint32_t index) {
  const auto first = std::partition_point(records.begin(), records.end(), [index](const T& record) {
    return record.device_index < index;
  });
  auto end = first;
  while (end != records.end() && end->device_index == index) ++end;
  return {first, end};
}

struct SnapshotDevice {
  SnapshotDevice() = default;
  // `device` is stored without its age, so that snapshots can share it.
  SnapshotDevice(Device device, std::optional<hmn::Telemetry>&& device_telemetry,
                 std::optional<Usage>&& own_usage)
      : age_ns(std::exchange(device.age_ns, 0)),
        identity(device),
        telemetry(std::move(device_telemetry)),
        self(std::move(own_usage)) {}

  // Returns the identity with its age.
  [[nodiscard]] Device record() const {
    Device device = *identity;
    device.age_ns = age_ns;
    return device;
  }

  std::uint64_t age_ns = 0;
  SharedValue<Device> identity;
  std::optional<hmn::Telemetry> telemetry;
  std::optional<Usage> self;
};

struct SnapshotDiagnostic {
  SnapshotDiagnostic() = default;
  SnapshotDiagnostic(const Diagnostic& diagnostic, std::optional<std::uint32_t> index)
      : value(diagnostic), device_index(index) {}

  Diagnostic value;  // value.device is meaningless here
  std::optional<std::uint32_t> device_index;
  std::uint32_t count = 1;
  // Position of the previous one of the same device, from 1; 0: none.
  std::uint32_t previous = 0;

  bool operator==(const SnapshotDiagnostic&) const = default;
};

// Why values are missing, with the diagnostics of each device linked for a quick search.
struct Explanations {
  std::vector<SnapshotDiagnostic> diagnostics;
  // [device index + 1, 0 for no device]: position of its last one, from 1; 0: none.
  std::vector<std::uint32_t> latest;

  bool operator==(const Explanations&) const = default;
};

// Requested values at one time; immutable once built.
struct Snapshot {
  std::uint32_t collect = 0;    // subject bits
  std::uint32_t postponed = 0;  // subjects left to a later snapshot of the sampler
  std::uint32_t notes = 0;
  std::uint32_t unreadable_processes = 0;
  std::uint64_t unix_time_ns = 0;
  std::uint64_t monotonic_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t end_ns = 0;  // in continuous_ns(); ages refer to it
  std::uint64_t device_generation = 0;
  std::optional<ProcessMemory> memory;
  std::optional<SystemMemory> system;
  std::vector<SnapshotDevice> devices;  // by index
  std::vector<Pool> pools;              // by device index, main pool first
  std::vector<Usage> usages;            // by device index, then pid
  std::vector<Metric> metrics;          // by device index
  std::vector<Group> groups;            // by device index
  SharedValue<Explanations> explanations;

  [[nodiscard]] SnapshotDevice* find_device(std::uint32_t index) noexcept;
  [[nodiscard]] const SnapshotDevice* find_device(std::uint32_t index) const noexcept {
    return const_cast<Snapshot*>(this)->find_device(index);
  }
  // Failure for an index that the snapshot does not have.
  [[nodiscard]] static Failure make_device_failure(std::uint32_t index) noexcept;
  [[nodiscard]] const Pool* find_pool(std::uint32_t index, PoolKind kind,
                                      std::uint32_t instance = 0) const noexcept;
  [[nodiscard]] const Pool* main_pool(std::uint32_t index) const noexcept {
    return find_pool(index, PoolKind::main);
  }
};

// Identities and explanations that snapshots of one sampler share, since they rarely change from
// one to the next.
class SharedParts {
 public:
  void share(Snapshot& snapshot);

 private:
  std::vector<SharedValue<Device>> devices_;
  SharedValue<Explanations> explanations_;
};

}  // namespace hmn
