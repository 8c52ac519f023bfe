// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "platform/clock.hpp"

namespace hmn {

// Time limits of readings and ages of cached answers. A deadline of 0 does not wait.
struct Limits {
  std::uint64_t deadline_ns = 1000 * platform::ns_per_ms;
  std::uint64_t open_deadline_ns = 10'000 * platform::ns_per_ms;
  std::uint64_t stale_ns = 5000 * platform::ns_per_ms;
  std::uint64_t max_age_ns = 0;
};

// Remaining waiting time of a call. Opening a vendor library is charged separately, so that a cold
// driver does not use up the deadline of the reading that follows.
class Deadline {
 public:
  Deadline(std::uint64_t start_ns, std::uint64_t deadline_ns,
           std::uint64_t open_deadline_ns) noexcept
      : start_ns_(start_ns),
        end_ns_(platform::add_duration(start_ns, deadline_ns)),
        total_(end_ns_ != platform::no_deadline ? deadline_ns : 0),
        open_left_(deadline_ns != 0 ? open_deadline_ns : 0),
        can_wait_(deadline_ns != 0) {}

  [[nodiscard]] std::uint64_t start_ns() const noexcept { return start_ns_; }
  // Returns the time at which the caller stops waiting.
  [[nodiscard]] std::uint64_t end_ns() const noexcept { return end_ns_ - reserve_ns_; }
  // Returns the time at which the source stops: one that no caller waits for has the default
  // deadline, so that a later call gets its answer.
  [[nodiscard]] std::uint64_t source_end_ns() const noexcept {
    return can_wait_ ? end_ns() : platform::add_duration(end_ns_, Limits().deadline_ns);
  }
  // Reserves a part of the time for the sources that follow, in case this one hangs.
  enum class Share : std::uint8_t { none, quarter, half };
  void reserve_for_next(Share share) noexcept {
    reserve_ns_ = share == Share::half ? total_ / 2 : share == Share::quarter ? total_ / 4 : 0;
  }
  // Returns the time without progress in calls for one device after which it is set aside: an
  // eighth of what is left.
  static constexpr std::uint64_t min_patience_ns = 100 * platform::ns_per_ms;
  [[nodiscard]] std::uint64_t patience(std::uint64_t now) const noexcept {
    return std::clamp((end_ns() - std::min(now, end_ns())) / 8, min_patience_ns,
                      2 * min_patience_ns);
  }
  void limit_end(std::uint64_t time_ns) noexcept { end_ns_ = std::min(end_ns_, time_ns); }
  // Returns the time at which an opening that began at `since_ns` is no longer waited for.
  [[nodiscard]] std::uint64_t opening_end_ns(std::uint64_t since_ns) const noexcept {
    return platform::add_duration(since_ns, open_left_);
  }
  // Extends the reading by the time of an opening, but by no more than openings may take: a caller
  // that was held up itself may see an opening only after it has ended.
  void charge_opening(std::uint64_t duration_ns) noexcept {
    const std::uint64_t charge = std::min(duration_ns, open_left_);
    if (open_left_ != platform::no_deadline) open_left_ -= charge;
    if (can_wait_) end_ns_ = platform::add_duration(end_ns_, charge);
  }

 private:
  std::uint64_t start_ns_;
  std::uint64_t end_ns_;
  std::uint64_t total_;
  std::uint64_t reserve_ns_ = 0;
  std::uint64_t open_left_;
  bool can_wait_;
};

}  // namespace hmn
