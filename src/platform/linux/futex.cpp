// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/linux/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "platform/clock.hpp"

namespace hmn::platform {
namespace {

// Timespec of the kernel for SYS_futex: two longs, regardless of the C library's time_t.
struct kernel_timespec {
  long seconds;
  long nanoseconds;
};

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value,
           const kernel_timespec* until) noexcept {
  static_assert(sizeof(word) == sizeof(uint32_t));
  return syscall(SYS_futex, &word, operation, value, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

wake wait_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) noexcept {
  const kernel_timespec until{static_cast<long>(deadline_ns / ns_per_second),
                              static_cast<long>(deadline_ns % ns_per_second)};
  const kernel_timespec* limit = deadline_ns == no_deadline ? nullptr : &until;
  while (word.load(std::memory_order_acquire) == expected) {
    const long slept = futex(word, FUTEX_WAIT_BITSET_PRIVATE, expected, limit);
    if (slept == 0 || errno != ETIMEDOUT) continue;
    if (word.load(std::memory_order_acquire) == expected) return wake::timed_out;
  }
  return wake::changed;
}

void wake_all(std::atomic<uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
}

}  // namespace hmn::platform
