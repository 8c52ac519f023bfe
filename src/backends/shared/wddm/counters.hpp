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
using luid = std::uint64_t;

constexpr luid make_luid(std::uint32_t high, std::uint32_t low) noexcept {
  return luid{high} << 32U | low;
}

// Sum over the physical adapters ("phys_0", "phys_1") of a linked one, any of which may be
// unreadable.
class segment_sum {
 public:
  // Without a value, the part was unreadable.
  void add(std::optional<std::uint64_t> part) noexcept;

  // Nothing if no part was readable.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool lacks_a_part() const noexcept { return lacks_; }

 private:
  std::optional<std::uint64_t> bytes_;
  bool lacks_ = false;
};

// Current usage by all processes and the system.
struct adapter_memory {
  segment_sum dedicated;
  segment_sum shared;
};

// Committed and resident memory of one process.
struct process_memory {
  luid adapter = 0;
  std::uint32_t pid = 0;
  segment_sum dedicated_committed;
  segment_sum shared_committed;
  segment_sum dedicated_resident;
  segment_sum shared_resident;
};

// Several engines may be of one kind: the busiest counts.
inline constexpr std::size_t engine_kinds = 9;  // which::engine
struct adapter_load {
  std::array<std::optional<double>, engine_kinds> percent;

  [[nodiscard]] std::optional<double> busiest() const noexcept;
};

struct process_load {
  std::uint32_t pid = 0;
  double percent = 0;  // of its busiest engine
};

struct loads {
  adapter_load adapter;
  std::vector<process_load> processes;
  std::uint64_t window_ns = 0;
  bool lacks_a_value = false;  // one is negative, or no number
};

class counters {
 public:
  virtual ~counters() = default;

  // Begins a reading: each kind of counter is collected at most once in it, on demand.
  virtual void begin() noexcept = 0;
  virtual result<adapter_memory> memory(luid adapter) = 0;
  // Appends rows. The list is complete: a process that is not in it uses nothing.
  virtual result<void> processes(luid adapter, std::vector<process_memory>& out) = 0;
  // Load since the previous call; fails with `empty` if there was none.
  virtual result<void> load(luid adapter, loads& out) = 0;
  // Call it when the system's adapters have changed.
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual source_state describe() const = 0;
};

}  // namespace hmn::wddm
