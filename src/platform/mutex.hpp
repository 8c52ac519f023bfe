// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>  // std::lock_guard

#include "platform/clock.hpp"
#include "platform/wait.hpp"

namespace hmn::platform {

// Mutex for short sections. One word: 0 free, 1 held, 2 held with waiters. std::mutex sleeps at
// once where another thread holds it, and that of mingw-w64 allocates and throws.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept {
    if (try_often()) return;
    while (word_.exchange(2, std::memory_order_acquire) != 0) {
      static_cast<void>(wait_on(word_, 2, no_deadline));
    }
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t free = 0;
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.compare_exchange_strong(free, 1, std::memory_order_acquire);
  }
  // Tries for some microseconds: a section mostly ends in less time than two threads take to sleep
  // and to be woken.
  [[nodiscard]] bool try_often() noexcept {
    if (try_lock()) return true;
    for (int turns = 64; turns != 0; --turns) {
      relax();
      if (try_lock()) return true;
    }
    return false;
  }
  void unlock() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2) wake_one(word_);
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

// One turn at a time, with a deadline in monotonic time. All that wait are woken when a turn ends
// that took longer than that, so that each can ask whether it still needs one of its own. Shorter
// ones wake no thread: those that wait look again after a while.
class turns {
 private:
  friend class turn;

  mutex held_;  // only tried
  std::atomic<std::uint32_t> ended_{0};
  std::atomic<std::uint32_t> waiting_{0};
};

// Lasts until the end of its scope, if it began in time.
class turn {
 public:
  // Takes the time as `now`, and updates it if it waits. `is_needless` is asked whenever it looks
  // again.
  template <class IsNeedless>
  turn(turns& of, std::uint64_t deadline_ns, std::uint64_t& now, IsNeedless&& is_needless)
      : of_(of) {
    if (!of.held_.try_lock()) {
      how_ = of.held_.try_often() ? outcome::held : wait(deadline_ns, is_needless);
      if (how_ == outcome::held) now = monotonic_ns();
    }
    begun_ns_ = now;
  }
  turn(turns& of, std::uint64_t deadline_ns, std::uint64_t& now)
      : turn(of, deadline_ns, now, [] { return false; }) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    if (how_ != outcome::held) return;
    of_.held_.unlock();
    if (of_.waiting_.load() == 0 || monotonic_ns() - begun_ns_ < worth_waking_ns) return;
    of_.ended_.fetch_add(1);
    wake_all(of_.ended_);
  }
  explicit operator bool() const noexcept { return how_ == outcome::held; }
  [[nodiscard]] bool is_needless() const noexcept { return how_ == outcome::needless; }

 private:
  enum class outcome { held, needless, timed_out };
  static constexpr std::uint64_t worth_waking_ns = 5'000;
  static constexpr std::uint64_t first_rest_ns = 500'000;
  static constexpr std::uint64_t longest_rest_ns = 8'000'000;

  template <class IsNeedless>
  outcome wait(std::uint64_t deadline_ns, IsNeedless& is_needless) {
    const counted here(of_.waiting_);
    for (std::uint64_t rest_ns = first_rest_ns;;) {
      const std::uint32_t ended = of_.ended_.load();
      if (is_needless()) return outcome::needless;
      if (of_.held_.try_often()) return outcome::held;
      const std::uint64_t until = std::min(deadline_ns, later(monotonic_ns(), rest_ns));
      if (wait_on(of_.ended_, ended, until) != wake::timed_out) continue;
      if (until == deadline_ns) return outcome::timed_out;
      rest_ns = std::min(2 * rest_ns, longest_rest_ns);
    }
  }

  class counted {
   public:
    explicit counted(std::atomic<std::uint32_t>& in) noexcept : in_(in) { ++in_; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --in_; }

   private:
    std::atomic<std::uint32_t>& in_;
  };

  turns& of_;
  outcome how_ = outcome::held;
  std::uint64_t begun_ns_ = 0;
};

}  // namespace hmn::platform
