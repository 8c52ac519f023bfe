// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>  // std::lock_guard

#include "platform/clock.hpp"
#include "platform/wait.hpp"

namespace hmn::platform {

// Mutex for short sections, with a deadline in monotonic time where one is wanted. One word: 0
// free, 1 held, 2 held with waiters. std::mutex has no deadline, sleeps at once where another
// thread holds it, and that of mingw-w64 allocates and throws.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept {
    if (!try_lock()) static_cast<void>(wait_until(no_deadline));
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t free = 0;
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.compare_exchange_strong(free, 1, std::memory_order_acquire);
  }
  // Brings `now` up to date where it waits.
  [[nodiscard]] bool lock_until(std::uint64_t deadline_ns, std::uint64_t& now) noexcept {
    if (try_lock()) return true;
    if (!wait_until(deadline_ns)) return false;
    now = monotonic_ns();
    return true;
  }

  void unlock() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2) wake_one(word_);
  }

 private:
  static constexpr int most_turns = 64;  // some microseconds

  bool wait_until(std::uint64_t deadline_ns) noexcept {
    // The section mostly ends in less time than two threads take to sleep and to be woken.
    for (int turns = most_turns; turns != 0; --turns) {
      if (try_lock()) return true;
      relax();
    }
    while (word_.exchange(2, std::memory_order_acquire) != 0) {
      if (wait_on(word_, 2, deadline_ns) == wake::timed_out) return false;
    }
    return true;
  }

  std::atomic<std::uint32_t> word_{0};
};

// Holds a mutex until the end of its scope, if it was locked in time.
class timed_guard {
 public:
  timed_guard(mutex& m, std::uint64_t deadline_ns, std::uint64_t& now) noexcept
      : mutex_(m), held_(m.lock_until(deadline_ns, now)) {}
  timed_guard(const timed_guard&) = delete;
  timed_guard& operator=(const timed_guard&) = delete;
  ~timed_guard() {
    if (held_) mutex_.unlock();
  }
  explicit operator bool() const noexcept { return held_; }

 private:
  mutex& mutex_;
  bool held_;
};

}  // namespace hmn::platform
