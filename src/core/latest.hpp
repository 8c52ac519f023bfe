// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hmn {

// A value that one thread stores and any number of others load, without a lock: the writer fills
// the one of two copies that is not shown, so that a reader never waits for it, and reads once more
// only where two stores came in between.
template <class T>
class latest {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void store(const T& value) noexcept {
    words staged{};
    std::memcpy(staged.data(), &value, sizeof value);
    std::uint32_t next = shown_.load(std::memory_order_relaxed) + 1;
    if (next == 0) next = 2;
    // Release: whoever sees a word of this copy sees that the one before it was shown.
    for (std::size_t i = 0; i < count; ++i) {
      copies_[next & 1U][i].store(staged[i], std::memory_order_release);
    }
    shown_.store(next, std::memory_order_release);
  }

  // False: nothing was stored yet.
  bool load(T& out) const noexcept {
    words read;
    std::uint32_t shown = shown_.load(std::memory_order_acquire);
    for (;;) {
      if (shown == 0) return false;
      for (std::size_t i = 0; i < count; ++i) {
        read[i] = copies_[shown & 1U][i].load(std::memory_order_acquire);
      }
      const std::uint32_t now = shown_.load(std::memory_order_acquire);
      if (now == shown) break;
      shown = now;
    }
    std::memcpy(static_cast<void*>(&out), read.data(), sizeof out);
    return true;
  }

 private:
  // Of the size that no processor needs a lock for.
  static constexpr std::size_t count =
      (sizeof(T) + sizeof(std::uintptr_t) - 1) / sizeof(std::uintptr_t);
  using words = std::array<std::uintptr_t, count>;

  std::array<std::array<std::atomic<std::uintptr_t>, count>, 2> copies_{};
  std::atomic<std::uint32_t> shown_{0};
};

}  // namespace hmn
