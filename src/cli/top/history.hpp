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

// Length of time that curves show.
enum class span : unsigned { minute, ten_minutes, hour, day };

struct span_facts {
  std::uint64_t ns;
  std::string_view name;
};
inline constexpr std::array<span_facts, 4> all_spans{{{60'000'000'000, "1 min"},
                                                      {600'000'000'000, "10 min"},
                                                      {3'600'000'000'000, "1 h"},
                                                      {86'400'000'000'000, "24 h"}}};

constexpr const span_facts& facts_of(span of) {
  return all_spans[static_cast<std::size_t>(of)];
}

// Returns the next longer or shorter one; after the last comes the first.
constexpr span next_span(span of, bool longer) {
  const auto step = longer ? 1 : all_spans.size() - 1;
  return static_cast<span>((static_cast<std::size_t>(of) + step) % all_spans.size());
}

// Time that a curve shows: `span` before the latest reading.
struct time_window {
  span of = span::minute;
  std::uint64_t now_ns = 0;
  std::uint64_t hold_ns = 0;  // a value lasts this long unless another one follows
};

// One value over time, for each span in slots of equal length: of the values in a slot the lowest
// and the highest are kept. Memory is bounded; times without a value are gaps.
class history {
 public:
  static constexpr std::size_t default_slots = 240;

  struct range {
    float low = 0;
    float high = 0;
  };

  explicit history(std::size_t slots = default_slots);

  // Requires nondecreasing times. No value: it is unknown from then on.
  void add(std::uint64_t at_ns, std::optional<double> value);
  // Returns the range of the values from `from_ns` to before `to_ns`; none: a gap.
  std::optional<range> between(span of, std::uint64_t from_ns, std::uint64_t to_ns,
                               std::uint64_t hold_ns) const;
  // Returns the highest value in the window.
  std::optional<float> highest(const time_window& in) const;

 private:
  struct slot {
    std::uint32_t number = 0;  // time, in slots
    range values;              // not a number: unknown
  };
  // Slots with a value or the begin of a gap, the oldest overwritten first.
  class ring {
   public:
    ring(std::size_t capacity, std::uint64_t width_ns) : capacity_(capacity), width_ns_(width_ns) {}

    void add(std::uint64_t at_ns, float value);
    std::size_t size() const { return slots_.size(); }
    const slot& at(std::size_t position) const {
      return slots_[(first_ + position) % slots_.size()];
    }
    // Returns the position of the first slot with that number or a later one.
    std::size_t position_of(std::uint64_t number) const;
    std::uint64_t number_at(std::uint64_t at_ns) const { return at_ns / width_ns_; }
    std::uint64_t width_ns() const { return width_ns_; }

   private:
    std::size_t capacity_;
    std::uint64_t width_ns_;
    std::size_t first_ = 0;
    std::vector<slot> slots_;
  };

  const ring& of(span which) const { return rings_[static_cast<std::size_t>(which)]; }

  std::vector<ring> rings_;  // by span
};

struct gpu_history {
  history load, memory, power, temperature, received, sent;
};

struct process_history {
  static constexpr std::size_t slots = 60;
  history load{slots}, vram{slots}, ram{slots}, cpu{slots};
  std::uint64_t last_ns = 0;  // last reading with the process
};

// Curves of everything that was read. Of processes at most a fixed number is kept: one that is
// there is never dropped for another.
class histories {
 public:
  static constexpr std::size_t most_processes = 256;

  void add(const machine_reading& now);
  const gpu_history* of_gpu(std::uint32_t index) const;
  const process_history* of_process(const process_identity& who) const;

 private:
  void add_processes(const machine_reading& now);
  process_history* kept_for(const process_identity& who, std::uint64_t now_ns);

  std::map<std::uint32_t, gpu_history> gpus_;
  std::map<process_identity, process_history> processes_;
};

}  // namespace hmn::cli::top
