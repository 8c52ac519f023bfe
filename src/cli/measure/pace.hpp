// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace hmn::cli {

// Time of the next measurement: after its interval, and so rarely that on average it takes no more
// than a small share of a core, regardless of its cost on this machine.
class pace {
 public:
  using clock = std::chrono::steady_clock;
  using nanoseconds = std::chrono::nanoseconds;

  // Processor time that is free at the start, so that a short run is measured well.
  static constexpr nanoseconds allowance = std::chrono::milliseconds(40);

  // Takes 400 in `share` for 1/400 of a core.
  pace(nanoseconds interval, int share) : interval_(interval), share_(share) {}

  bool is_due(clock::time_point now) const { return now >= next_; }
  clock::time_point next() const { return next_; }
  // Adds the processor time of the measurement begun at `now`.
  void count(clock::time_point now, nanoseconds cost) {
    if (count_++ == 0) first_ = now;
    last_ = now;
    spent_ += cost;
    next_ = std::max(now + interval_, first_ + (spent_ - allowance) * share_);
  }

  // Records how old a value was: some are renewed more seldom than they are read.
  void count_age(nanoseconds age) { oldest_ = std::max(oldest_, age); }

  // Extends the mean interval to the end of the run.
  void end(clock::time_point now) { ended_ = now; }

  std::uint64_t times() const { return static_cast<std::uint64_t>(count_); }
  // Returns the actual mean interval, which is no shorter than values were old.
  nanoseconds mean_interval() const {
    const auto least = std::max(interval_, oldest_);
    if (count_ > 0 && ended_ > last_) return std::max(least, (ended_ - first_) / count_);
    return count_ < 2 ? least : std::max(least, (last_ - first_) / (count_ - 1));
  }

 private:
  nanoseconds interval_;
  int share_;
  nanoseconds spent_{};
  nanoseconds oldest_{};
  clock::time_point next_{};
  clock::time_point first_{};
  clock::time_point last_{};
  clock::time_point ended_{};
  std::int64_t count_ = 0;
};

}  // namespace hmn::cli
