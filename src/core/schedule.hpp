// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace hmn {

// Schedule of a periodic task: slot n is due n intervals after the start, regardless of how long
// earlier slots took.
class schedule {
 public:
  schedule(std::uint64_t start_ns, std::uint64_t interval_ns) noexcept
      : start_ns_(start_ns), interval_ns_(interval_ns) {}

  [[nodiscard]] std::uint64_t slot() const noexcept { return slot_; }
  [[nodiscard]] std::uint64_t due_ns() const noexcept { return start_ns_ + slot_ * interval_ns_; }

  // Advances to the newest slot that is due, or to the next one. Returns the number of skipped
  // slots.
  std::uint64_t advance(std::uint64_t now_ns) noexcept {
    const std::uint64_t reached = now_ns > start_ns_ ? (now_ns - start_ns_) / interval_ns_ : 0;
    const std::uint64_t next = std::max(slot_ + 1, reached);
    const std::uint64_t left_out = next - slot_ - 1;
    slot_ = next;
    return left_out;
  }

 private:
  std::uint64_t start_ns_;
  std::uint64_t interval_ns_;
  std::uint64_t slot_ = 0;
};

// Divides a schedule: selects the first slot reached of every n.
class every_nth {
 public:
  explicit every_nth(std::uint64_t n) noexcept : n_(n) {}

  [[nodiscard]] bool takes(std::uint64_t reached) noexcept {
    if (reached < next_) return false;
    next_ = (reached / n_ + 1) * n_;
    return true;
  }

 private:
  std::uint64_t n_;
  std::uint64_t next_ = 0;
};

}  // namespace hmn
