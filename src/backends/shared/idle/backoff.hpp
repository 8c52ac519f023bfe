// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Back-off for drivers of GPUs that may suspend: an idle one never could if each reading queried
// it. Pure: the caller passes the time.
#pragma once

#include <cstdint>
#include <string_view>

#include "platform/clock.hpp"

namespace hmn::idle {

// Time that a driver needs to suspend an unused device.
inline constexpr std::uint64_t shortest_backoff_ns = 10 * platform::ns_per_second;
inline constexpr std::uint64_t longest_backoff_ns = 60 * platform::ns_per_second;

class Backoff {
 public:
  // `patience_ns`: readings in a burst shorter than this keep nothing awake.
  explicit Backoff(std::uint64_t patience_ns) noexcept : patience_ns_(patience_ns) {}

  // Begins a reading. `asleep`: a GPU of the driver has suspended.
  void begin_reading(std::uint64_t now_ns, bool asleep) noexcept;
  // Returns whether to skip the driver now.
  [[nodiscard]] bool is_active() const noexcept { return end_ns_ != 0; }
  // Returns whether to check for activity at the end of this reading: true at most once a second.
  [[nodiscard]] bool is_check_due(std::uint64_t now_ns) noexcept;
  // Starts the back-off. `delay_ns`: the kernel's autosuspend delay, from a device's last use to
  // its suspension.
  void start(std::uint64_t now_ns, std::uint64_t delay_ns) noexcept;

 private:
  std::uint64_t patience_ns_;
  std::uint64_t first_ns_ = 0;  // of a burst of readings that are too frequent to let a GPU suspend
  std::uint64_t last_ns_ = 0;
  std::uint64_t last_check_ns_ = 0;
  std::uint64_t end_ns_ = 0;  // 0: not backing off
  std::uint64_t earliest_check_ns_ = 0;
  std::uint64_t pause_ns_ = 0;  // after the next unsuccessful attempt
};

// Values of the kernel's runtime power management files. Pure.

bool allows_sleep(std::string_view control) noexcept;
// Parses power/autosuspend_delay_ms: from a device's last use to its suspension. 0 if unknown or
// negative.
std::uint64_t parse_delay_ns(std::string_view autosuspend_delay_ms) noexcept;

}  // namespace hmn::idle
