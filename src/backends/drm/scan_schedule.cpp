// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/scan_schedule.hpp"

#include <algorithm>

#include "platform/clock.hpp"

namespace hmn::drm {
namespace {

// Faster than needed, so that slightly late readings leave none overdue.
constexpr double haste = 16.0 / 15;
constexpr std::uint64_t few_readings = 3;

constexpr std::uint32_t turns = 8;
// Time whose share of the processor is saved up for readings in quick succession.
constexpr std::uint64_t saved_ns = platform::ns_per_second;

}  // namespace

std::int64_t scan_schedule::share_of(std::uint64_t time_ns) const noexcept {
  return static_cast<std::int64_t>(time_ns / 100 * percent_);
}

void scan_schedule::begin(std::uint64_t now_ns, std::size_t known) noexcept {
  const bool is_later = last_ns_ != 0 && now_ns >= last_ns_;
  const std::uint64_t passed = is_later ? now_ns - last_ns_ : 0;
  is_first_ = !is_later || known == 0;
  const std::uint64_t gone = std::min(passed, every_ns_);
  const auto all = static_cast<double>(known);
  if (every_ns_ != 0) {
    credit_ += all * haste * static_cast<double>(gone) / static_cast<double>(every_ns_);
  }
  credit_ = std::min(credit_, all);
  last_pid_ = 0;
  // Overdue: would be late at the next reading, if that is as late as this one.
  latest_ns_ = now_ns + gone - gone / 16;
  last_ns_ = now_ns;
  const std::int64_t saved = share_of(saved_ns);
  allowed_ns_ = is_first_ ? saved : std::min(allowed_ns_, saved) + share_of(passed);
  // So long that no reading is late for the next one.
  new_allowed_ns_ = std::max(allowed_ns_, static_cast<std::int64_t>(passed / 4));
  is_spent_ = false;
}

// Listing takes at most half of the time, unless much is left.
bool scan_schedule::may_list() const noexcept {
  if (is_first_ || !is_limited() || allowed_ns_ > share_of(saved_ns) / 2) return true;
  return allowed_ns_ > 0 &&
         share_of(last_ns_ - listed_ns_) / 2 >= static_cast<std::int64_t>(listing_ns_);
}

void scan_schedule::listed(std::uint64_t used_ns) noexcept {
  listed_ns_ = last_ns_;
  listing_ns_ = used_ns;
  used(used_ns);
}

bool scan_schedule::may_add() const noexcept {
  return is_first_ || !is_limited() || new_allowed_ns_ > 0;
}

void scan_schedule::used(std::uint64_t used_ns) noexcept {
  if (is_first_) return;
  allowed_ns_ -= static_cast<std::int64_t>(used_ns);
  new_allowed_ns_ -= static_cast<std::int64_t>(used_ns);
}

search scan_schedule::of_known(std::uint32_t pid, std::uint64_t looked_ns, bool is_client,
                               search otherwise) noexcept {
  const bool must = is_client && is_overdue(looked_ns);
  is_spent_ = is_spent_ || (is_limited() && allowed_ns_ <= 0);
  if (is_spent_ || pid <= resume_) return must ? search::all : search::none;
  last_pid_ = pid;
  if (!is_behind_) return is_due(pid, looked_ns) ? search::all : otherwise;
  return must || pid % turns == turn_ ? search::all : std::max(otherwise, search::count);
}

bool scan_schedule::is_overdue(std::uint64_t looked_ns) const noexcept {
  return looked_ns > last_ns_ || latest_ns_ - looked_ns > every_ns_;
}

bool scan_schedule::is_due(std::uint32_t pid, std::uint64_t looked_ns) noexcept {
  if (pid > cursor_ && credit_ >= 1) {
    credit_ -= 1;
    cursor_ = pid;
    return true;
  }
  return is_overdue(looked_ns);
}

void scan_schedule::end() noexcept {
  if (is_spent_) {
    is_behind_ = true;
    resume_ = std::max(resume_, last_pid_);
    return;
  }
  if (is_behind_) turn_ = (turn_ + 1) % turns;
  is_behind_ = false;
  resume_ = 0;
  if (cursor_ < last_pid_ && credit_ < 1) return;
  cursor_ = 0;
  credit_ = 0;
}

bool scan_schedule::is_slow(std::uint64_t now_ns) const noexcept {
  return last_ns_ == 0 || now_ns - last_ns_ > every_ns_ / few_readings;
}

}  // namespace hmn::drm
