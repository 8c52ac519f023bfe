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

// Time of the next measurement: after its interval, and so rarely that on average it takes no more
// than a hundredth of a core, regardless of its cost on this machine.
class pace {
 public:
  using clock = std::chrono::steady_clock;
  using nanoseconds = std::chrono::nanoseconds;

  // Processor time that is free at the start, so that a short run is measured well.
  static constexpr nanoseconds allowance = std::chrono::milliseconds(40);

  explicit pace(nanoseconds interval) : interval_(interval) {}

  bool is_due(clock::time_point now) const { return now >= next_; }
  clock::time_point next() const { return next_; }
  // Adds the processor time of the measurement begun at `now`.
  void count(clock::time_point now, nanoseconds cost) {
    if (!first_) first_ = now;
    spent_ += cost;
    next_ = std::max(now + interval_, *first_ + (spent_ - allowance) * 100);
  }

 private:
  nanoseconds interval_;
  nanoseconds spent_{};
  clock::time_point next_{};
  std::optional<clock::time_point> first_;
};

// Times at whole intervals after the first, without drift. A missed one is skipped.
class ticks {
 public:
  using clock = std::chrono::steady_clock;

  ticks(clock::time_point first, clock::duration interval) : first_(first), interval_(interval) {}

  // Returns the first one after `now`.
  clock::time_point after(clock::time_point now) const {
    if (now < first_) return first_;
    return first_ + ((now - first_) / interval_ + 1) * interval_;
  }

 private:
  clock::time_point first_;
  clock::duration interval_;
};

struct repetition {
  std::chrono::milliseconds interval{};
  std::optional<std::uint64_t> duration_ms;
  std::optional<std::uint64_t> count;
};

// Takes samples at once, at each interval, and a last one at the end or when a stop is requested;
// none after what cannot be written. A sample gets the milliseconds since the first.
write_result repeat(const repetition& asked, stop_request& stop,
                    const std::function<write_result(std::uint64_t ms)>& sample);

}  // namespace hmn::cli
