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

// Remaining waiting time of a call. Opening a vendor library has an account of its own, so that a
// cold driver does not consume the deadline of the reading after it.
class Deadline {
 public:
  Deadline(std::uint64_t begun, std::uint64_t deadline_ns, std::uint64_t open_deadline_ns) noexcept
      : begun_(begun),
        until_(platform::later(begun, deadline_ns)),
        total_(until_ != platform::no_deadline ? deadline_ns : 0),
        open_left_(deadline_ns != 0 ? open_deadline_ns : 0),
        waits_(deadline_ns != 0) {}

  [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }
  // Returns when the caller stops waiting.
  [[nodiscard]] std::uint64_t until() const noexcept { return until_ - for_next_; }
  // Returns when the source stops: one that no caller waits for has the default time, so that a
  // later call gets its answer.
  [[nodiscard]] std::uint64_t source_until() const noexcept {
    return waits_ ? until() : platform::later(until_, Limits().deadline_ns);
  }
  // Reserves a part of the time for the sources that follow, in case this one hangs.
  enum class Share : std::uint8_t { none, quarter, half };
  void leave_for_next(Share part) noexcept {
    for_next_ = part == Share::half ? total_ / 2 : part == Share::quarter ? total_ / 4 : 0;
  }
  // Returns the time without progress in calls for one device after which it is set aside: an
  // eighth of what is left.
  static constexpr std::uint64_t least_patience_ns = 100 * platform::ns_per_ms;
  [[nodiscard]] std::uint64_t patience(std::uint64_t now) const noexcept {
    return std::clamp((until() - std::min(now, until())) / 8, least_patience_ns,
                      2 * least_patience_ns);
  }
  void end_by(std::uint64_t time_ns) noexcept { until_ = std::min(until_, time_ns); }
  // Returns when an opening that began at `since_ns` is no longer waited for.
  [[nodiscard]] std::uint64_t open_until(std::uint64_t since_ns) const noexcept {
    return platform::later(since_ns, open_left_);
  }
  // Extends the reading by the time of an opening, but by no more than openings may take: a caller
  // that was held up itself may see an opening only after it has ended.
  void charge_opening(std::uint64_t spent) noexcept {
    const std::uint64_t counted = std::min(spent, open_left_);
    if (open_left_ != platform::no_deadline) open_left_ -= counted;
    if (waits_) until_ = platform::later(until_, counted);
  }

 private:
  std::uint64_t begun_;
  std::uint64_t until_;
  std::uint64_t total_;
  std::uint64_t for_next_ = 0;
  std::uint64_t open_left_;
  bool waits_;
};

}  // namespace hmn
