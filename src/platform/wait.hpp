// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/clock.hpp"

namespace hmn::platform {

enum class wake { changed, timed_out };

// Sleeps until word differs from expected (acquire) or until the monotonic deadline.
wake wait_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) noexcept;

// Leaves the core to its other thread for a moment, in a loop that waits for a word.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Wakes one waiter. Store the new value (release) first; a wake without a change goes unnoticed.
void wake_one(std::atomic<uint32_t>& word) noexcept;
void wake_all(std::atomic<uint32_t>& word) noexcept;

}  // namespace hmn::platform
