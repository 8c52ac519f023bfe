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
           const KernelTimespec* until) noexcept {
  static_assert(sizeof(word) == sizeof(uint32_t));
  return syscall(SYS_futex, &word, operation, value, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

// Restrictions: what follows runs in the supervisor or the program's process, in our memory and
// with the calling thread's thread-local storage. That thread sleeps until the phase leaves
// "starting". Afterwards the supervisor makes only calls that cannot fail, as a failure would write
// that thread's errno, and bypasses the C library's wrappers, which change its cancellation state.

HMN_UNINSTRUMENTED void close_range_of(const Supervision& shared, unsigned first, unsigned last) {
  if (shared.descriptor_limit == 0) {
    syscall(SYS_close_range, first, last, 0);
    return;
  }
  const unsigned end = std::min(last, static_cast<unsigned>(shared.descriptor_limit));
  for (unsigned number = first; number <= end; ++number) syscall(SYS_close, number);
}

HMN_UNINSTRUMENTED void enter_phase(Supervision& shared, uint32_t next) {
  shared.now.store(next, std::memory_order_release);
  wake_all(shared.now);
}

// Resets the signal dispositions: the program would inherit ignored signals, and handlers belong to
// the host. The C library reserves those between the last classic signal and SIGRTMIN.
HMN_UNINSTRUMENTED void default_dispositions() {
  struct sigaction plain;
  __builtin_memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  const int reserved = 32;
  const int real_time = SIGRTMIN;
  for (int number = 1; number < NSIG; ++number) {
    const bool is_settable =
        number != SIGKILL && number != SIGSTOP && (number < reserved || number >= real_time);
    if (is_settable) sigaction(number, &plain, nullptr);
  }
}

HMN_UNINSTRUMENTED bool place(int from, int to) {
  return syscall(SYS_dup3, from, to, 0) >= 0;
}

HMN_UNINSTRUMENTED int execute(void* given) {
  Supervision& shared = *static_cast<Supervision*>(given);
  const Launch& what = shared.what;
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (syscall(SYS_getppid) != shared.supervisor_itself) return 1;
  syscall(SYS_setpgid, 0, 0);
  if (place(what.input, STDIN_FILENO) && place(what.output, STDOUT_FILENO) &&
      place(what.errors, STDERR_FILENO)) {
    close_range_of(shared, STDERR_FILENO + 1, ~0U);
    const uint64_t no_signals = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, nullptr, sizeof no_signals);
    syscall(SYS_execve, what.path, what.arguments, what.environment);
  }
  shared.error = errno;
  return 1;
}

// Records the exit but leaves the program a zombie: its number, and that of its group, stay
// reserved until the order arrives.
HMN_UNINSTRUMENTED void note_exit(Supervision& shared) {
  siginfo_t info;
  info.si_pid = 0;
  syscall(SYS_waitid, P_PID, shared.program, &info, WEXITED | WNOHANG | WNOWAIT, nullptr);
  if (info.si_pid == 0) return;
  (info.si_code == CLD_EXITED ? shared.exit_code : shared.signal) = info.si_status;
  enter_phase(shared, phase_exited);
}

HMN_UNINSTRUMENTED uint32_t await_order(Supervision& shared, int signals) {
  for (;;) {
    const uint32_t ordered = shared.ordered.load(std::memory_order_acquire);
    if (ordered != order_none) return ordered;
    signalfd_siginfo came;
    syscall(SYS_read, signals, &came, sizeof came);
    if (came.ssi_signo == SIGCHLD) note_exit(shared);
  }
}

HMN_UNINSTRUMENTED void create_program(Supervision& shared) {
  shared.supervisor_itself = static_cast<pid_t>(syscall(SYS_getpid));
  shared.program_is_here.store(1, std::memory_order_release);
  constexpr int flags = CLONE_VM | CLONE_VFORK | CLONE_CHILD_CLEARTID | SIGCHLD;
  shared.program = clone(execute, shared.program_stack, flags, &shared, nullptr, nullptr,
                         &shared.program_is_here);
  if (shared.program >= 0) return;
  shared.error = errno;
  shared.program_is_here.store(0, std::memory_order_release);
}

// Opens a descriptor that the two awaited signals make readable.
HMN_UNINSTRUMENTED int open_signals(Supervision& shared) {
  const uint64_t awaited = (uint64_t{1} << (SIGCHLD - 1)) | (uint64_t{1} << (order_signal - 1));
  const long opened = syscall(SYS_signalfd4, -1, &awaited, sizeof awaited, 0);
  if (opened < 0) shared.error = errno;
  return static_cast<int>(opened);
}

HMN_UNINSTRUMENTED void close_all_but(Supervision& shared, unsigned kept) {
  if (kept > 0) close_range_of(shared, 0, kept - 1);
  close_range_of(shared, kept + 1, ~0U);
}

}  // namespace

Wake wait_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) noexcept {
  const KernelTimespec until{static_cast<long>(deadline_ns / ns_per_second),
                             static_cast<long>(deadline_ns % ns_per_second)};
  const KernelTimespec* limit = deadline_ns == no_deadline ? nullptr : &until;
  while (word.load(std::memory_order_acquire) == expected) {
    const long slept = futex(word, FUTEX_WAIT_BITSET_PRIVATE, expected, limit);
    if (slept == 0 || errno != ETIMEDOUT) continue;
    if (word.load(std::memory_order_acquire) == expected) return Wake::timed_out;
  }
  return Wake::changed;
}

void wake_all(std::atomic<uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
}

HMN_UNINSTRUMENTED int supervise(void* given) {
  Supervision& shared = *static_cast<Supervision*>(given);
  // End the supervisor, and with it the program, if the thread that waits for it ends.
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  syscall(SYS_prctl, PR_SET_NAME, "hmn-supervisor", 0, 0, 0);
  default_dispositions();
  syscall(SYS_chdir, "/");
  const int signals = open_signals(shared);
  if (signals >= 0) create_program(shared);
  if (shared.error != 0) {
    if (shared.program > 0) syscall(SYS_wait4, shared.program, nullptr, 0, nullptr);
    enter_phase(shared, phase_failed);
    return 0;
  }
  close_all_but(shared, static_cast<unsigned>(signals));
  enter_phase(shared, phase_running);
  if (await_order(shared, signals) == order_kill_all) {
    syscall(SYS_kill, -shared.program, SIGKILL);
    syscall(SYS_kill, shared.program, SIGKILL);
  }
  syscall(SYS_wait4, shared.program, nullptr, 0, nullptr);
  return 0;
}

}  // namespace hmn::platform
