// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hmn::platform {

uint32_t current_pid() noexcept;
// Returns whether a process may have several pids, in different namespaces.
bool has_pid_namespaces() noexcept;

// Tolerance of start times: Linux derives them from btime of /proc/stat, which has whole seconds,
// and a driver's clock is another one.
inline constexpr uint64_t start_slack_ns = 2'000'000'000;

// Returns whether a process that started at `start_ns` existed at `time_ns`, to tell it from a
// later one with the same pid.
constexpr bool has_started_by(uint64_t start_ns, uint64_t time_ns) noexcept {
  return start_ns <= time_ns || start_ns - time_ns <= start_slack_ns;
}

size_t page_size() noexcept;
uint64_t clock_ticks_per_second() noexcept;

// Returns the host name of uname, or an empty text.
std::string host_name();

// Returns whether the process started with more rights than its caller (set-user-id and alike).
bool is_privileged_start() noexcept;

// Returns NULL when unset, and always after a privileged start.
const char* environment(const char* name) noexcept;

// Returns a number that is never 0, constant within a process, and in a forked child different from
// those of all ancestors. Makes no system call after the first use.
uint64_t process_generation() noexcept;

}  // namespace hmn::platform
