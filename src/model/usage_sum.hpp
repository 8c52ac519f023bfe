// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace hmn {

// Total of what clients or processes use of one device. Memory that several of them hold counts
// once in lower_bound(), and for each of its holders in upper_bound().
class UsageSum {
 public:
  // `shared`: the part of `used` that others hold as well; all of it may be where that is
  // not reported, unless the driver counts each process's own allocations.
  void add(std::uint64_t used, std::optional<std::uint64_t> shared, bool is_exclusive) noexcept {
    const std::uint64_t shared_part = std::min(shared.value_or(is_exclusive ? 0 : used), used);
    if (__builtin_add_overflow(upper_bound_, used, &upper_bound_)) upper_bound_ = UINT64_MAX;
    if (__builtin_add_overflow(exclusive_, used - shared_part, &exclusive_))
      exclusive_ = UINT64_MAX;
    largest_shared_ = std::max(largest_shared_, shared_part);
    if (shared_part != 0) ++sharer_count_;
  }
  // Adds another total.
  void add(const UsageSum& sum) noexcept {
    if (__builtin_add_overflow(upper_bound_, sum.upper_bound_, &upper_bound_))
      upper_bound_ = UINT64_MAX;
    if (__builtin_add_overflow(exclusive_, sum.exclusive_, &exclusive_)) exclusive_ = UINT64_MAX;
    largest_shared_ = std::max(largest_shared_, sum.largest_shared_);
    sharer_count_ += sum.sharer_count_;
  }
  [[nodiscard]] bool is_exact() const noexcept { return sharer_count_ < 2; }
  // Returns the part that is certainly held by one client only.
  [[nodiscard]] std::uint64_t exclusive() const noexcept { return exclusive_; }
  [[nodiscard]] std::uint64_t upper_bound() const noexcept { return upper_bound_; }
  [[nodiscard]] std::uint64_t lower_bound() const noexcept {
    return exclusive_ + std::min(largest_shared_, UINT64_MAX - exclusive_);
  }

 private:
  std::uint64_t upper_bound_ = 0;
  std::uint64_t exclusive_ = 0;
  std::uint64_t largest_shared_ = 0;
  std::uint32_t sharer_count_ = 0;  // number with a part that others may hold as well
};

}  // namespace hmn
