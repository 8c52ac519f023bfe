// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace hmn {

// Time that the openings of a driver take within one request: kept by the thread that opens it, and
// read by the caller who waits, who is not woken for this.
class opening_clock {
 public:
  void reset() noexcept {
    set(0, false);
    taken_ = 0;
  }
  void begin(std::uint64_t now) noexcept {
    before_ = spent(now);
    set(now - before_, true);
  }
  // Returns how long the opening took.
  std::uint64_t end(std::uint64_t now) noexcept {
    const std::uint64_t all = spent(now);
    set(all, false);
    return all - before_;
  }
  // Returns the time that the caller has not taken before.
  std::uint64_t take(std::uint64_t now) noexcept {
    const std::uint64_t all = std::max(spent(now), taken_);
    return all - std::exchange(taken_, all);
  }

 private:
  [[nodiscard]] std::uint64_t spent(std::uint64_t now) const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    return (word & 1) == 0 ? word >> 1 : now - std::min(word >> 1, now);
  }
  void set(std::uint64_t time, bool is_running) noexcept {
    word_.store(time << 1 | (is_running ? 1 : 0), std::memory_order_relaxed);
  }

  // The time spent; while it runs, that at which it was 0. The lowest bit: whether it runs.
  std::atomic<std::uint64_t> word_{0};
  std::uint64_t before_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace hmn
