// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>  // std::lock_guard

#include "platform/clock.hpp"
#include "platform/wait.hpp"

namespace hmn::platform {

// Mutex for short sections. One word: 0 free, 1 held, 2 held with waiters. std::mutex sleeps at
// once where another thread holds it, and that of mingw-w64 allocates and throws.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept {
    if (try_often()) return;
    while (word_.exchange(2, std::memory_order_acquire) != 0) {
      static_cast<void>(wait_on(word_, 2, no_deadline));
    }
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t free = 0;
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.compare_exchange_strong(free, 1, std::memory_order_acquire);
  }
  // Tries for some microseconds: a section mostly ends in less time than two threads take to sleep
  // and to be woken.
  [[nodiscard]] bool try_often() noexcept {
    if (try_lock()) return true;
    for (int turns = 64; turns != 0; --turns) {
      relax();
      if (try_lock()) return true;
    }
    return false;
  }
  void unlock() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2) wake_one(word_);
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace hmn::platform
