// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace hmn {

// Total of what clients or processes use of one device. Memory that several of them hold counts
// once in at_least(), and for each of its holders in at_most().
class UsageSum {
 public:
  // `shared`: the part of `used` that others hold as well; all of it may be where that is
  // not reported, unless the driver counts each process's own allocations.
  void add(std::uint64_t used, std::optional<std::uint64_t> shared, bool is_own) noexcept {
    const std::uint64_t part = std::min(shared.value_or(is_own ? 0 : used), used);
    if (__builtin_add_overflow(at_most_, used, &at_most_)) at_most_ = UINT64_MAX;
    if (__builtin_add_overflow(alone_, used - part, &alone_)) alone_ = UINT64_MAX;
    largest_shared_ = std::max(largest_shared_, part);
    if (part != 0) ++sharing_;
  }
  // Adds a total over others.
  void add(const UsageSum& more) noexcept {
    if (__builtin_add_overflow(at_most_, more.at_most_, &at_most_)) at_most_ = UINT64_MAX;
    if (__builtin_add_overflow(alone_, more.alone_, &alone_)) alone_ = UINT64_MAX;
    largest_shared_ = std::max(largest_shared_, more.largest_shared_);
    sharing_ += more.sharing_;
  }
  [[nodiscard]] bool is_exact() const noexcept { return sharing_ < 2; }
  // Returns the part that no other can hold.
  [[nodiscard]] std::uint64_t alone() const noexcept { return alone_; }
  [[nodiscard]] std::uint64_t at_most() const noexcept { return at_most_; }
  [[nodiscard]] std::uint64_t at_least() const noexcept {
    return alone_ + std::min(largest_shared_, UINT64_MAX - alone_);
  }

 private:
  std::uint64_t at_most_ = 0;
  std::uint64_t alone_ = 0;
  std::uint64_t largest_shared_ = 0;
  std::uint32_t sharing_ = 0;  // number with a part that others may hold as well
};

}  // namespace hmn
