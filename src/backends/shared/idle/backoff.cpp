// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/idle/backoff.hpp"

#include <algorithm>

#include "model/scan.hpp"
#include "platform/clock.hpp"

namespace hmn::idle {
namespace {

constexpr std::uint64_t first_pause_ns = 60 * platform::ns_per_second;
constexpr std::uint64_t longest_pause_ns = 16 * first_pause_ns;
constexpr std::uint64_t look_again_ns = platform::ns_per_second;

}  // namespace

// If devices do not suspend during a back-off, something else keeps them awake, and they may as
// well be read: each time the next attempt comes later.
void Backoff::begin(std::uint64_t now_ns, bool asleep) noexcept {
  const bool is_over = until_ns_ != 0 && (asleep || now_ns >= until_ns_);
  if (asleep || pause_ns_ == 0) {
    pause_ns_ = first_pause_ns;
    not_before_ns_ = 0;
  } else if (is_over) {
    not_before_ns_ = now_ns + pause_ns_;
    pause_ns_ = std::min(pause_ns_ * 2, longest_pause_ns);
  }
  if (is_over) until_ns_ = 0;
  if (is_over || asleep || last_ns_ == 0 || now_ns - last_ns_ >= shortest_backoff_ns) {
    first_ns_ = now_ns;
  }
  last_ns_ = now_ns;
}

bool Backoff::is_due(std::uint64_t now_ns) noexcept {
  const bool is_early = now_ns < not_before_ns_ || now_ns - first_ns_ < patience_ns_;
  if (is_on() || is_early || (looked_ns_ != 0 && now_ns - looked_ns_ < look_again_ns)) return false;
  looked_ns_ = now_ns;
  return true;
}

void Backoff::start(std::uint64_t now_ns, std::uint64_t delay_ns) noexcept {
  until_ns_ = now_ns + std::clamp(delay_ns * 2, shortest_backoff_ns, longest_backoff_ns);
}

bool says_may_sleep(std::string_view control) noexcept {
  return control == "auto";
}

std::uint64_t delay_ns(std::string_view autosuspend_delay_ms) noexcept {
  const auto ms = scan::decimal(autosuspend_delay_ms);
  return ms && *ms < UINT32_MAX ? *ms * platform::ns_per_ms : 0;
}

}  // namespace hmn::idle
