// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "platform/clock.hpp"
#include "platform/mutex.hpp"
#include "platform/wait.hpp"

namespace hmn::platform {

// One turn at a time, with a deadline in monotonic time. When a turn ends that took longer than to
// wake a thread, all that wait are woken, so that each can ask whether it still needs one of its
// own. Shorter ones wake none: those that wait look again after a while, which is longer the more
// of them there are, since each that looks holds up the one whose turn it is.
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
  static constexpr std::uint64_t worth_waking_ns = 15'000;
  static constexpr std::uint64_t rest_per_thread_ns = 500'000;
  static constexpr std::uint64_t longest_rest_ns = 16'000'000;

  template <class IsNeedless>
  outcome wait(std::uint64_t deadline_ns, IsNeedless& is_needless) {
    const counted here(of_.waiting_);
    for (std::uint64_t rest_ns = of_.waiting_.load() * rest_per_thread_ns;;) {
      const std::uint32_t ended = of_.ended_.load();
      if (is_needless()) return outcome::needless;
      if (of_.held_.try_often()) return outcome::held;
      rest_ns = std::min(rest_ns, longest_rest_ns);
      const std::uint64_t until = std::min(deadline_ns, later(monotonic_ns(), rest_ns));
      if (wait_on(of_.ended_, ended, until) != wake::timed_out) continue;
      if (until == deadline_ns) return outcome::timed_out;
      rest_ns *= 2;
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
