// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What Windows' counters tell of the adapters that its display driver model runs, as their reader
// and the list of adapters share it. An adapter is known by its LUID.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/backend.hpp"

namespace hmn::wddm {

// Both halves: what an adapter has until it is reset, disabled or the system starts anew.
using luid = std::uint64_t;

constexpr luid make_luid(std::uint32_t high, std::uint32_t low) noexcept {
  return luid{high} << 32U | low;
}

// Bytes over the physical adapters ("phys_0", "phys_1") of a linked one.
class segment_sum {
 public:
  // Nothing: this part could not be read.
  void add(std::optional<std::uint64_t> part) noexcept;

  // Nothing: no part could be read.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool lacks_a_part() const noexcept { return lacks_; }

 private:
  std::optional<std::uint64_t> bytes_;
  bool lacks_ = false;
};

// In use now, by all processes and the system.
struct adapter_memory {
  segment_sum dedicated;
  segment_sum shared;
};

// Of one process: what was promised to it, and what of it is in memory.
struct process_memory {
  luid adapter = 0;
  std::uint32_t pid = 0;
  segment_sum dedicated_committed;
  segment_sum shared_committed;
  segment_sum dedicated_resident;
  segment_sum shared_resident;
};

// Engines of one kind may be several: the busiest counts.
inline constexpr std::size_t engine_kinds = 9;  // which::engine
struct adapter_load {
  std::array<std::optional<double>, engine_kinds> percent;

  [[nodiscard]] std::optional<double> busiest() const noexcept;
};

struct process_load {
  std::uint32_t pid = 0;
  double percent = 0;  // of the engine that it uses most
};

struct loads {
  adapter_load adapter;
  std::vector<process_load> processes;
  std::uint64_t window_ns = 0;
};

class counters {
 public:
  virtual ~counters() = default;

  // A new reading: each kind of figures is asked for once in it, when it is wanted.
  virtual void begin() noexcept = 0;
  virtual result<adapter_memory> memory(luid adapter) = 0;
  // Appends. Complete: a process that is missing uses nothing.
  virtual result<void> processes(luid adapter, std::vector<process_memory>& out) = 0;
  // Since the call before; fails with `empty` where there was none.
  virtual result<void> load(luid adapter, loads& out) = 0;
  // The system's set of adapters has changed.
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual source_state describe() const = 0;
};

}  // namespace hmn::wddm
