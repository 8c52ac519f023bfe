// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/snapshot.hpp"

namespace hmn {

// Queue of unread snapshots, the oldest first, with a capacity fixed at construction.
class snapshot_ring {
 public:
  explicit snapshot_ring(std::size_t capacity) : entries_(capacity) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Returns the oldest snapshot if it was dropped to free a slot.
  std::unique_ptr<snapshot> push(std::unique_ptr<snapshot> fresh) noexcept {
    std::unique_ptr<snapshot> dropped;
    if (size_ == entries_.size()) dropped = pop();
    entries_[(first_ + size_) % entries_.size()] = std::move(fresh);
    ++size_;
    return dropped;
  }

  // Returns nullptr when empty.
  std::unique_ptr<snapshot> pop() noexcept {
    if (size_ == 0) return nullptr;
    std::unique_ptr<snapshot> oldest = std::move(entries_[first_]);
    first_ = (first_ + 1) % entries_.size();
    --size_;
    return oldest;
  }

 private:
  std::vector<std::unique_ptr<snapshot>> entries_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace hmn
