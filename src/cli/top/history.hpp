// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/top/span.hpp"

namespace hmn::cli::top {

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

}  // namespace hmn::cli::top
