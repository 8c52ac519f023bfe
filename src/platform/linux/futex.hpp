// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace hmn::platform {

enum class wake { changed, timed_out };

// Sleeps until word differs from expected (acquire) or until the monotonic deadline. For processes
// that share memory and may call nothing of the C library; threads have platform/mutex.hpp.
wake wait_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) noexcept;

// Wakes those that wait. Store the new value (release) first; a wake without a change goes
// unnoticed.
void wake_all(std::atomic<uint32_t>& word) noexcept;

}  // namespace hmn::platform
