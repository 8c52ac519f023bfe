// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/idle/backoff.hpp"

#include <algorithm>

#include "model/scan.hpp"
#include "platform/clock.hpp"

namespace hmn::idle {
namespace {

constexpr std::uint64_t first_pause_ns = 60 * platform::ns_per_second;
constexpr std::uint64_t longest_pause_ns = 16 * first_pause_ns;
constexpr std::uint64_t check_interval_ns = platform::ns_per_second;

}  // namespace

// If devices do not suspend during a back-off, something else keeps them awake, and they may as
// well be read: each attempt is later than the one before.
void Backoff::begin_reading(std::uint64_t now_ns, bool asleep) noexcept {
  const bool is_over = end_ns_ != 0 && (asleep || now_ns >= end_ns_);
  if (asleep || pause_ns_ == 0) {
    pause_ns_ = first_pause_ns;
    earliest_check_ns_ = 0;
  } else if (is_over) {
    earliest_check_ns_ = now_ns + pause_ns_;
    pause_ns_ = std::min(pause_ns_ * 2, longest_pause_ns);
  }
  if (is_over) end_ns_ = 0;
  if (is_over || asleep || last_ns_ == 0 || now_ns - last_ns_ >= shortest_backoff_ns) {
    first_ns_ = now_ns;
  }
  last_ns_ = now_ns;
}

bool Backoff::is_check_due(std::uint64_t now_ns) noexcept {
  const bool is_early = now_ns < earliest_check_ns_ || now_ns - first_ns_ < patience_ns_;
  if (is_active() || is_early ||
      (last_check_ns_ != 0 && now_ns - last_check_ns_ < check_interval_ns))
    return false;
  last_check_ns_ = now_ns;
  return true;
}

void Backoff::start(std::uint64_t now_ns, std::uint64_t delay_ns) noexcept {
  end_ns_ = now_ns + std::clamp(delay_ns * 2, shortest_backoff_ns, longest_backoff_ns);
}

bool allows_sleep(std::string_view control) noexcept {
  return control == "auto";
}

std::uint64_t parse_delay_ns(std::string_view autosuspend_delay_ms) noexcept {
  const auto ms = scan::parse_decimal(autosuspend_delay_ms);
  return ms && *ms < UINT32_MAX ? *ms * platform::ns_per_ms : 0;
}

}  // namespace hmn::idle
