// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/scan_schedule.hpp"

#include <algorithm>

namespace hmn::drm {
namespace {

// Faster than needed, so that slightly late readings leave none overdue.
constexpr double haste = 16.0 / 15;
constexpr std::uint64_t few_readings = 3;

}  // namespace

void scan_schedule::begin(std::uint64_t now_ns, std::size_t known) noexcept {
  const bool is_first = last_ns_ == 0 || now_ns < last_ns_;
  const std::uint64_t gone = is_first ? 0 : std::min(now_ns - last_ns_, every_ns_);
  const auto all = static_cast<double>(known);
  if (every_ns_ != 0) {
    credit_ += all * haste * static_cast<double>(gone) / static_cast<double>(every_ns_);
  }
  credit_ = std::min(credit_, all);
  last_pid_ = 0;
  // Overdue: would be late at the next reading, if that is as late as this one.
  latest_ns_ = now_ns + gone - gone / 16;
  last_ns_ = now_ns;
}

bool scan_schedule::is_due(std::uint32_t pid, std::uint64_t looked_ns) noexcept {
  last_pid_ = pid;
  if (pid > cursor_ && credit_ >= 1) {
    credit_ -= 1;
    cursor_ = pid;
    return true;
  }
  return looked_ns > last_ns_ || latest_ns_ - looked_ns > every_ns_;
}

void scan_schedule::end() noexcept {
  if (cursor_ < last_pid_ && credit_ < 1) return;
  cursor_ = 0;
  credit_ = 0;
}

bool scan_schedule::is_slow(std::uint64_t now_ns) const noexcept {
  return last_ns_ == 0 || now_ns - last_ns_ > every_ns_ / few_readings;
}

}  // namespace hmn::drm
