// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "platform/clock.hpp"
#include "platform/mutex.hpp"
#include "platform/wait.hpp"

namespace hmn::platform {

// One turn at a time, with a deadline in monotonic time. Where turns take longer than to wake a
// thread, all that wait are woken at the end of each, so that each can ask whether it still needs
// one of its own. Shorter ones wake none: those that wait look again after a while.
//
// Each that looks holds up the one whose turn it is. Where threads have waited for some
// milliseconds, they look one after the other, until one finds that no turn has ended lately.
class turns {
 private:
  friend class turn;

  mutex held_;  // only tried
  std::atomic<std::uint32_t> ended_{0};
  std::atomic<std::uint32_t> waiting_{0};
  // Turns that others waited for, less ten for each that none did; when the last one ended, and
  // whether it was long.
  std::atomic<std::uint32_t> demand_{0};
  std::atomic<std::uint64_t> end_ns_{0};
  std::atomic<bool> was_long_{false};
  std::atomic<std::uint64_t> next_look_ns_{0};
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
    if (!count_demand()) return;
    const std::uint64_t now = monotonic_ns();
    of_.end_ns_.store(now, std::memory_order_relaxed);
    if (are_long(now - begun_ns_)) wake_waiting();
  }
  explicit operator bool() const noexcept { return how_ == outcome::held; }
  [[nodiscard]] bool is_needless() const noexcept { return how_ == outcome::needless; }

 private:
  enum class outcome { held, needless, timed_out };
  static constexpr std::uint64_t worth_waking_ns = 5'000;
  static constexpr std::uint64_t surely_worth_waking_ns = 1'000'000;
  static constexpr std::uint64_t least_rest_ns = 500'000;
  static constexpr std::uint64_t longest_rest_ns = 8'000'000;
  static constexpr std::uint64_t idle_ns = 100'000;
  static constexpr std::uint32_t much = 500;

  // Returns whether others wait.
  bool count_demand() noexcept {
    const bool is_in_demand = of_.waiting_.load() != 0;
    const std::uint32_t before = of_.demand_.load(std::memory_order_relaxed);
    const std::uint32_t now =
        is_in_demand ? std::min(before + 1, 2 * much) : before - std::min(before, 10U);
    if (now != before) of_.demand_.store(now, std::memory_order_relaxed);
    return is_in_demand;
  }

  [[nodiscard]] bool is_crowded() const noexcept {
    return of_.demand_.load(std::memory_order_relaxed) >= much;
  }

  void wake_waiting() noexcept {
    of_.ended_.fetch_add(1);
    wake_all(of_.ended_);
  }

  // Returns whether turns are long. A single one may be short, but interrupted by another thread.
  [[nodiscard]] bool are_long(std::uint64_t took_ns) noexcept {
    if (!is_crowded()) return took_ns >= worth_waking_ns;
    const bool is_long = took_ns >= 3 * worth_waking_ns;
    const bool was_long = of_.was_long_.exchange(is_long, std::memory_order_relaxed);
    return is_long && (was_long || took_ns >= surely_worth_waking_ns);
  }

  // Returns when to look at the latest, so that a deadline is not reached without a look before it.
  [[nodiscard]] static std::uint64_t last_look(std::uint64_t now,
                                               std::uint64_t deadline_ns) noexcept {
    const std::uint64_t left = deadline_ns - std::min(now, deadline_ns);
    return left > least_rest_ns ? now + left / 2 : deadline_ns;
  }

  // Returns when to look after a rest.
  [[nodiscard]] std::uint64_t next_look(std::uint64_t now, std::uint64_t rest_ns) noexcept {
    if (!is_crowded()) return later(now, rest_ns);
    const std::uint64_t first = now + least_rest_ns;
    const std::uint64_t last = now + of_.waiting_.load() * least_rest_ns;
    std::uint64_t before = of_.next_look_ns_.load(std::memory_order_relaxed);
    std::uint64_t mine;
    do {
      mine = std::clamp(before + least_rest_ns, first, last);
    } while (!of_.next_look_ns_.compare_exchange_weak(before, mine, std::memory_order_relaxed));
    return std::max(mine, later(now, rest_ns));
  }

  // Wakes the others where no turn has ended for a while.
  void look_around(std::uint64_t now) noexcept {
    if (!is_crowded() || now < of_.end_ns_.load(std::memory_order_relaxed) + idle_ns) return;
    of_.demand_.store(0, std::memory_order_relaxed);
    wake_waiting();
  }

  template <class IsNeedless>
  outcome wait(std::uint64_t deadline_ns, IsNeedless& is_needless) {
    const counted here(of_.waiting_);
    std::uint64_t looked_ns = 0;
    for (std::uint64_t rest_ns = least_rest_ns;;) {
      const std::uint32_t ended = of_.ended_.load();
      const bool is_served = is_needless();
      if (is_served || of_.held_.try_often()) {
        look_around(looked_ns);
        return is_served ? outcome::needless : outcome::held;
      }
      const std::uint64_t now = monotonic_ns();
      const std::uint64_t until = std::min(last_look(now, deadline_ns), next_look(now, rest_ns));
      if (wait_on(of_.ended_, ended, until) != wake::timed_out) continue;
      if (until == deadline_ns) return outcome::timed_out;
      looked_ns = until;
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
