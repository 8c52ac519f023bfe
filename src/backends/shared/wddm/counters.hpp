// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Windows' counters of the adapters of its display driver model: the interface between the source
// that lists adapters and the counters. A LUID identifies an adapter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "source/interface.hpp"

namespace hmn::wddm {

// Both halves: constant until the adapter is reset or disabled, or the system restarts.
using Luid = std::uint64_t;

constexpr Luid make_luid(std::uint32_t high, std::uint32_t low) noexcept {
  return Luid{high} << 32U | low;
}

// Sum over the physical adapters ("phys_0", "phys_1") of a linked one, any of which may be
// unreadable.
class SegmentSum {
 public:
  // Without a value, the part was unreadable.
  void add(std::optional<std::uint64_t> part) noexcept;

  // Returns none if no part was readable.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool is_incomplete() const noexcept { return is_incomplete_; }

 private:
  std::optional<std::uint64_t> bytes_;
  bool is_incomplete_ = false;
};

// Current usage by all processes and the system.
struct AdapterMemory {
  SegmentSum dedicated;
  SegmentSum shared;
};

// Committed and resident memory of one process.
struct ProcessMemory {
  Luid adapter = 0;
  std::uint32_t pid = 0;
  SegmentSum dedicated_committed;
  SegmentSum shared_committed;
  SegmentSum dedicated_resident;
  SegmentSum shared_resident;
};

// Several engines may be of one kind: the busiest counts.
inline constexpr std::size_t engine_kinds = 9;  // metric_instance::engine
struct AdapterLoad {
  std::array<std::optional<double>, engine_kinds> percent;

  [[nodiscard]] std::optional<double> busiest_percent() const noexcept;
};

struct ProcessLoad {
  std::uint32_t pid = 0;
  double percent = 0;  // of its busiest engine
};

struct LoadReading {
  AdapterLoad adapter;
  std::vector<ProcessLoad> processes;
  std::uint64_t window_ns = 0;
  bool is_incomplete = false;  // a value is negative or not a number
};

class Counters {
 public:
  virtual ~Counters() = default;

  // Begins a reading: each kind of counter is collected at most once in it, on demand.
  virtual void begin() noexcept = 0;
  virtual Result<AdapterMemory> memory(Luid adapter) = 0;
  // Appends rows. The list is complete: a process that is not in it uses nothing.
  virtual Result<void> processes(Luid adapter, std::vector<ProcessMemory>& rows) = 0;
  // Load since the previous call; fails with `empty` if there was none.
  virtual Result<void> load(Luid adapter, LoadReading& loads) = 0;
  // Call it when the system's adapters have changed.
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual SourceState describe() const = 0;
};

}  // namespace hmn::wddm
