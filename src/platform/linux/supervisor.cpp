// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/linux/supervisor.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "platform/clock.hpp"
#include "platform/sanitizer.hpp"

namespace hmn::platform {
namespace {

// The kernel's timespec for SYS_futex: two longs, whatever the C library's time_t.
struct KernelTimespec {
  long seconds;
  long nanoseconds;
};

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value,
           const KernelTimespec* deadline) noexcept {
  static_assert(sizeof(word) == sizeof(uint32_t));
  return syscall(SYS_futex, &word, operation, value, deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
}

// Restrictions: what follows runs in the supervisor or the program's process, in our memory and
// with the calling thread's thread-local storage. That thread sleeps until the phase leaves
// "starting". Afterwards the supervisor makes only calls that cannot fail, as a failure would write
// that thread's errno, and bypasses the C library's wrappers, which change its cancellation state.

HMN_UNINSTRUMENTED void close_descriptors(const SupervisorState& state, unsigned first,
                                          unsigned last) {
  if (state.descriptor_limit == 0) {
    syscall(SYS_close_range, first, last, 0);
    return;
  }
  const unsigned end = std::min(last, static_cast<unsigned>(state.descriptor_limit));
  for (unsigned number = first; number <= end; ++number) syscall(SYS_close, number);
}

HMN_UNINSTRUMENTED void enter_phase(SupervisorState& state, uint32_t next) {
  state.phase.store(next, std::memory_order_release);
  wake_all(state.phase);
}

// Resets the signal dispositions: the program would inherit ignored signals, and handlers belong to
// the host. The C library reserves those between the last classic signal and SIGRTMIN.
HMN_UNINSTRUMENTED void reset_dispositions() {
  struct sigaction action;
  __builtin_memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  const int reserved = 32;
  const int real_time = SIGRTMIN;
  for (int number = 1; number < NSIG; ++number) {
    const bool is_settable =
        number != SIGKILL && number != SIGSTOP && (number < reserved || number >= real_time);
    if (is_settable) sigaction(number, &action, nullptr);
  }
}

HMN_UNINSTRUMENTED bool replace_descriptor(int source, int target) {
  return syscall(SYS_dup3, source, target, 0) >= 0;
}

HMN_UNINSTRUMENTED int execute(void* argument) {
  SupervisorState& state = *static_cast<SupervisorState*>(argument);
  const Launch& launch = state.launch;
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (syscall(SYS_getppid) != state.supervisor_own_pid) return 1;
  syscall(SYS_setpgid, 0, 0);
  if (replace_descriptor(launch.input, STDIN_FILENO) &&
      replace_descriptor(launch.output, STDOUT_FILENO) &&
      replace_descriptor(launch.errors, STDERR_FILENO)) {
    close_descriptors(state, STDERR_FILENO + 1, ~0U);
    const uint64_t no_signals = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, nullptr, sizeof no_signals);
    syscall(SYS_execve, launch.path, launch.arguments, launch.environment);
  }
  state.error = errno;
  return 1;
}

// Records the exit but leaves the program a zombie: its number, and that of its group, stay
// reserved until the order arrives.
HMN_UNINSTRUMENTED void record_exit(SupervisorState& state) {
  siginfo_t info;
  info.si_pid = 0;
  syscall(SYS_waitid, P_PID, state.program, &info, WEXITED | WNOHANG | WNOWAIT, nullptr);
  if (info.si_pid == 0) return;
  (info.si_code == CLD_EXITED ? state.exit_code : state.signal) = info.si_status;
  enter_phase(state, phase_exited);
}

HMN_UNINSTRUMENTED uint32_t await_order(SupervisorState& state, int signal_descriptor) {
  for (;;) {
    const uint32_t order = state.order.load(std::memory_order_acquire);
    if (order != order_none) return order;
    signalfd_siginfo info;
    syscall(SYS_read, signal_descriptor, &info, sizeof info);
    if (info.ssi_signo == SIGCHLD) record_exit(state);
  }
}

HMN_UNINSTRUMENTED void create_program(SupervisorState& state) {
  state.supervisor_own_pid = static_cast<pid_t>(syscall(SYS_getpid));
  state.program_in_memory.store(1, std::memory_order_release);
  constexpr int flags = CLONE_VM | CLONE_VFORK | CLONE_CHILD_CLEARTID | SIGCHLD;
  state.program = clone(execute, state.program_stack, flags, &state, nullptr, nullptr,
                        &state.program_in_memory);
  if (state.program >= 0) return;
  state.error = errno;
  state.program_in_memory.store(0, std::memory_order_release);
}

// Opens a descriptor that the two awaited signals make readable.
HMN_UNINSTRUMENTED int open_signal_descriptor(SupervisorState& state) {
  const uint64_t mask = (uint64_t{1} << (SIGCHLD - 1)) | (uint64_t{1} << (order_signal - 1));
  const long descriptor = syscall(SYS_signalfd4, -1, &mask, sizeof mask, 0);
  if (descriptor < 0) state.error = errno;
  return static_cast<int>(descriptor);
}

HMN_UNINSTRUMENTED void close_all_but(SupervisorState& state, unsigned descriptor) {
  if (descriptor > 0) close_descriptors(state, 0, descriptor - 1);
  close_descriptors(state, descriptor + 1, ~0U);
}

}  // namespace

WakeReason wait_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) noexcept {
  const KernelTimespec deadline{static_cast<long>(deadline_ns / ns_per_second),
                                static_cast<long>(deadline_ns % ns_per_second)};
  const KernelTimespec* limit = deadline_ns == no_deadline ? nullptr : &deadline;
  while (word.load(std::memory_order_acquire) == expected) {
    const long result = futex(word, FUTEX_WAIT_BITSET_PRIVATE, expected, limit);
    if (result == 0 || errno != ETIMEDOUT) continue;
    if (word.load(std::memory_order_acquire) == expected) return WakeReason::timed_out;
  }
  return WakeReason::changed;
}

void wake_all(std::atomic<uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
}

HMN_UNINSTRUMENTED int supervise(void* argument) {
  SupervisorState& state = *static_cast<SupervisorState*>(argument);
  // End the supervisor, and with it the program, if the thread that waits for it ends.
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  syscall(SYS_prctl, PR_SET_NAME, "hmn-supervisor", 0, 0, 0);
  reset_dispositions();
  syscall(SYS_chdir, "/");
  const int signal_descriptor = open_signal_descriptor(state);
  if (signal_descriptor >= 0) create_program(state);
  if (state.error != 0) {
    if (state.program > 0) syscall(SYS_wait4, state.program, nullptr, 0, nullptr);
    enter_phase(state, phase_failed);
    return 0;
  }
  close_all_but(state, static_cast<unsigned>(signal_descriptor));
  enter_phase(state, phase_running);
  if (await_order(state, signal_descriptor) == order_kill_all) {
    syscall(SYS_kill, -state.program, SIGKILL);
    syscall(SYS_kill, state.program, SIGKILL);
  }
  syscall(SYS_wait4, state.program, nullptr, 0, nullptr);
  return 0;
}

}  // namespace hmn::platform
