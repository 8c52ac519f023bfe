// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/clock.hpp"
#include "platform/wait.hpp"

namespace hmn {

// Lock with a deadline in monotonic time. One word: 0 free, 1 held, 2 held with waiters.
class timed_lock {
 public:
  // Brings `now` up to date where it waits.
  [[nodiscard]] bool acquire_until(std::uint64_t deadline_ns, std::uint64_t& now) noexcept {
    if (try_acquire()) return true;
    // What does not block is read in less time than two threads take to sleep and to be woken.
    int turns = most_turns;
    while (turns != 0 && !try_acquire()) {
      platform::relax();
      --turns;
    }
    while (turns == 0 && word_.exchange(2, std::memory_order_acquire) != 0) {
      if (platform::wait_on(word_, 2, deadline_ns) == platform::wake::timed_out) return false;
    }
    now = platform::monotonic_ns();
    return true;
  }

  void release() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2) platform::wake_one(word_);
  }

 private:
  static constexpr int most_turns = 64;  // some microseconds

  bool try_acquire() noexcept {
    std::uint32_t free = 0;
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.compare_exchange_strong(free, 1, std::memory_order_acquire);
  }

  std::atomic<std::uint32_t> word_{0};
};

// Holds a timed_lock until the end of its scope, if it was acquired.
class timed_guard {
 public:
  timed_guard(timed_lock& lock, std::uint64_t deadline_ns, std::uint64_t& now) noexcept
      : lock_(lock), held_(lock.acquire_until(deadline_ns, now)) {}
  timed_guard(const timed_guard&) = delete;
  timed_guard& operator=(const timed_guard&) = delete;
  ~timed_guard() {
    if (held_) lock_.release();
  }
  explicit operator bool() const noexcept { return held_; }

 private:
  timed_lock& lock_;
  bool held_;
};

}  // namespace hmn
