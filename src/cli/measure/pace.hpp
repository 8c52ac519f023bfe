// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "cli/system/waiting.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {

// Schedules measurements: one per interval, but rarely enough that on average they take no more
// than a hundredth of a core, regardless of its cost on this machine.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  using Nanoseconds = std::chrono::nanoseconds;

  // Processor time that is free at the start, so that a short run is measured well.
  static constexpr Nanoseconds allowance = std::chrono::milliseconds(40);

  explicit Pace(Nanoseconds interval) : interval_(interval) {}

  bool is_due(Clock::time_point now) const { return now >= next_; }
  Clock::time_point next() const { return next_; }
  // Adds the processor time of the measurement begun at `now`.
  void add_cost(Clock::time_point now, Nanoseconds cost) {
    if (!first_) first_ = now;
    spent_ += cost;
    next_ = std::max(now + interval_, *first_ + (spent_ - allowance) * 100);
  }

 private:
  Nanoseconds interval_;
  Nanoseconds spent_{};
  Clock::time_point next_{};
  std::optional<Clock::time_point> first_;
};

// Times at whole intervals after the first, without drift. A missed one is skipped.
class Ticks {
 public:
  using Clock = std::chrono::steady_clock;

  Ticks(Clock::time_point first, Clock::duration interval) : first_(first), interval_(interval) {}

  // Returns the first one after `now`.
  Clock::time_point after(Clock::time_point now) const {
    if (now < first_) return first_;
    return first_ + ((now - first_) / interval_ + 1) * interval_;
  }

 private:
  Clock::time_point first_;
  Clock::duration interval_;
};

struct Repetition {
  std::chrono::milliseconds interval{};
  std::optional<std::uint64_t> duration_ms;
  std::optional<std::uint64_t> count;
};

// Takes samples at once, at each interval, and a last one at the end or when a stop is requested;
// it stops once a sample cannot be written. A sample gets the milliseconds since the first.
WriteResult repeat(const Repetition& repetition, StopRequest& stop,
                   const std::function<WriteResult(std::uint64_t ms)>& sample);

}  // namespace hmn::cli
