// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

#include "platform/clock.hpp"

namespace hmn {

// Time limits of readings and ages of cached answers.
struct limits {
  std::uint64_t deadline_ns = 1000 * platform::ns_per_ms;
  std::uint64_t open_deadline_ns = 10'000 * platform::ns_per_ms;
  std::uint64_t stale_ns = 5000 * platform::ns_per_ms;
  std::uint64_t max_age_ns = 0;
};

// Remaining waiting time of a call. Opening a vendor library has an account of its own, so that a
// cold driver does not consume the deadline of the reading after it.
class deadline {
 public:
  deadline(std::uint64_t now, std::uint64_t deadline_ns, std::uint64_t open_deadline_ns) noexcept
      : until_(now + deadline_ns), for_next_(deadline_ns / 2), open_left_(open_deadline_ns) {}

  [[nodiscard]] std::uint64_t until() const noexcept {
    return has_next_ ? until_ - for_next_ : until_;
  }
  // Reserves half of the time for the next source in case this one hangs.
  void leave_for_next(bool has_next) noexcept { has_next_ = has_next; }
  [[nodiscard]] std::uint64_t open_left() const noexcept { return open_left_; }
  void charge_opening(std::uint64_t spent) noexcept {
    open_left_ = spent < open_left_ ? open_left_ - spent : 0;
    until_ += spent;
  }

 private:
  std::uint64_t until_;
  std::uint64_t for_next_;
  std::uint64_t open_left_;
  bool has_next_ = false;
};

}  // namespace hmn
