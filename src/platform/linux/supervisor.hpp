// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "platform/posix/subprocess.hpp"

namespace hmn::platform {

enum class WakeReason { changed, timed_out };

// Sleeps until word differs from expected (acquire) or until the monotonic deadline. For processes
// that share memory and may call nothing of the C library; threads have platform/mutex.hpp.
WakeReason wait_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) noexcept;

// Wakes all waiters. Store the new value (release) first; a wake without a change goes unnoticed.
void wake_all(std::atomic<uint32_t>& word) noexcept;

enum Phase : uint32_t { phase_starting, phase_running, phase_exited, phase_failed };
enum Order : uint32_t { order_none, order_let_live, order_kill_all };

// State shared with both processes; unmapped when both have left our memory.
struct SupervisorState {
  Launch launch;
  int descriptor_limit = 0;  // 0: close_range works
  char* program_stack = nullptr;
  pid_t supervisor = 0;
  pid_t supervisor_own_pid = 0;  // in its own pid namespace, which the host may have unshared
  pid_t program = 0;
  int error = 0;
  int exit_code = 0;
  int signal = 0;
  // Set before the program's process exists, cleared by the kernel when it executes or exits.
  std::atomic<pid_t> program_in_memory{0};
  std::atomic<uint32_t> phase{phase_starting};
  std::atomic<uint32_t> order{order_none};
  SupervisorState* next = nullptr;
};

inline constexpr int order_signal = SIGUSR1;

// Entry of the supervisor, on its own stack in our memory, with all signals blocked; `argument` is
// a SupervisorState.
int supervise(void* argument);

}  // namespace hmn::platform
