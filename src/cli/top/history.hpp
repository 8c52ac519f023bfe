// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/top/reader.hpp"

namespace hmn::cli::top {

// Time span that curves show.
enum class TimeSpan : unsigned { minute, ten_minutes, hour, day };

// Length of a time span, and its name on the screen.
struct SpanFacts {
  std::uint64_t ns;
  std::string_view name;
};
inline constexpr std::array<SpanFacts, 4> all_spans{{{60'000'000'000, "1 min"},
                                                     {600'000'000'000, "10 min"},
                                                     {3'600'000'000'000, "1 h"},
                                                     {86'400'000'000'000, "24 h"}}};

constexpr const SpanFacts& span_facts(TimeSpan span) {
  return all_spans[static_cast<std::size_t>(span)];
}

// Returns the next longer or shorter span; the first follows the last.
constexpr TimeSpan next_span(TimeSpan span, bool is_longer) {
  const auto step = is_longer ? 1 : all_spans.size() - 1;
  return static_cast<TimeSpan>((static_cast<std::size_t>(span) + step) % all_spans.size());
}

// Time that a curve shows: `span` before the latest reading.
struct TimeWindow {
  TimeSpan span = TimeSpan::minute;
  std::uint64_t now_ns = 0;
  std::uint64_t hold_ns = 0;  // a value lasts this long unless another one follows
};

// One value over time, for each span in slots of equal length: of the values in a slot the lowest
// and the highest are kept. Memory is bounded; times without a value are gaps.
class History {
 public:
  static constexpr std::size_t default_slots = 240;

  struct Range {
    float low = 0;
    float high = 0;
  };

  explicit History(std::size_t slots = default_slots);

  // Requires nondecreasing times. No value: unknown from then on.
  void add(std::uint64_t time_ns, std::optional<double> value);
  // Returns the range of the values from `start_ns` to before `end_ns`; none: a gap.
  std::optional<Range> find_range(TimeSpan span, std::uint64_t start_ns, std::uint64_t end_ns,
                                  std::uint64_t hold_ns) const;
  // Returns the highest value in the window.
  std::optional<float> highest(const TimeWindow& window) const;

 private:
  struct Slot {
    std::uint32_t number = 0;  // time, in slots
    Range values;              // NaN: unknown
  };
  // Slots with a value or the start of a gap; the oldest is overwritten first.
  class Ring {
   public:
    Ring(std::size_t capacity, std::uint64_t width_ns) : capacity_(capacity), width_ns_(width_ns) {}

    void add(std::uint64_t time_ns, float value);
    std::size_t size() const { return slots_.size(); }
    const Slot& at(std::size_t position) const {
      return slots_[(first_ + position) % slots_.size()];
    }
    // Returns the position of the first slot with that number or a later one.
    std::size_t find_position(std::uint64_t number) const;
    std::uint64_t slot_number(std::uint64_t time_ns) const { return time_ns / width_ns_; }
    std::uint64_t width_ns() const { return width_ns_; }

   private:
    std::size_t capacity_;
    std::uint64_t width_ns_;
    std::size_t first_ = 0;
    std::vector<Slot> slots_;
  };

  const Ring& find_ring(TimeSpan span) const { return rings_[static_cast<std::size_t>(span)]; }

  std::vector<Ring> rings_;  // by span
};

struct GpuHistory {
  History load, memory, power, temperature, received, sent;
};

struct ProcessHistory {
  static constexpr std::size_t slots = 60;
  History load{slots}, vram{slots}, ram{slots}, cpu{slots};
  std::uint64_t last_ns = 0;  // last reading with the process
};

// Histories of everything that was read, of a bounded number of processes: one that still
// exists is never dropped for another.
class Histories {
 public:
  static constexpr std::size_t max_processes = 256;

  void add(const MachineReading& machine);
  const GpuHistory* find_gpu(std::uint32_t index) const;
  const ProcessHistory* find_process(const ProcessIdentity& identity) const;

 private:
  void add_processes(const MachineReading& machine);
  ProcessHistory* find_or_create(const ProcessIdentity& identity, std::uint64_t now_ns);

  std::map<std::uint32_t, GpuHistory> gpus_;
  std::map<ProcessIdentity, ProcessHistory> processes_;
};

}  // namespace hmn::cli::top
