// SPDX-License-Identifier: MIT OR Apache-2.0
//
// When a driver is left alone although readings are asked for: a GPU that may sleep and has nothing
// to do could not, would each of them ask. Pure: the caller says what time it is.
#pragma once

#include <cstdint>
#include <string_view>

#include "platform/clock.hpp"

namespace hmn::idle {

// As long as a driver needs to suspend what nobody uses.
inline constexpr std::uint64_t shortest_backoff_ns = 10 * platform::ns_per_second;
inline constexpr std::uint64_t longest_backoff_ns = 60 * platform::ns_per_second;

class backoff {
 public:
  // `patience_ns`: readings in a burst shorter than this keep nothing awake.
  explicit backoff(std::uint64_t patience_ns) noexcept : patience_ns_(patience_ns) {}

  // A reading begins. `asleep`: a GPU of it has suspended.
  void begin(std::uint64_t now_ns, bool asleep) noexcept;
  // Whether the driver is to be left alone now.
  [[nodiscard]] bool is_on() const noexcept { return until_ns_ != 0; }
  // Whether to look if there is something to do, at the end of a reading. At most once a
  // second says yes.
  [[nodiscard]] bool is_due(std::uint64_t now_ns) noexcept;
  // There is not. `delay_ns`: the kernel's own, from the last use of a device to its suspension.
  void start(std::uint64_t now_ns, std::uint64_t delay_ns) noexcept;

 private:
  std::uint64_t patience_ns_;
  std::uint64_t first_ns_ = 0;  // of readings that follow each other too fast to let a GPU sleep
  std::uint64_t last_ns_ = 0;
  std::uint64_t looked_ns_ = 0;
  std::uint64_t until_ns_ = 0;  // 0: not left alone
  std::uint64_t not_before_ns_ = 0;
  std::uint64_t pause_ns_ = 0;  // after the next one that was in vain
};

// Words of the kernel's runtime power management. Pure.

// What power/control holds.
bool says_may_sleep(std::string_view control) noexcept;
// What power/autosuspend_delay_ms holds: from a device's last use to its suspension. 0 where none
// is told; a negative one is none.
std::uint64_t delay_ns(std::string_view autosuspend_delay_ms) noexcept;

}  // namespace hmn::idle
