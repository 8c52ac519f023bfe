// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <new>
#include <string_view>

#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/linux/supervisor.hpp"
#include "platform/posix/subprocess.hpp"
#include "platform/process.hpp"
#include "platform/sanitizer.hpp"

namespace hmn::platform {
namespace {

// Program run as the child of a child. execve resets a process's termination signal to SIGCHLD, so
// a program run as our own child would appear in the host's SIGCHLD handler and wait loops. Its
// parent is therefore a supervisor: a process in our memory that executes nothing, keeps
// termination signal 0, and so is visible only to waits with __WCLONE or __WALL.
class SupervisedChild {
 public:
  SupervisedChild() noexcept = default;
  SupervisedChild(const SupervisedChild&) = delete;
  SupervisedChild& operator=(const SupervisedChild&) = delete;
  ~SupervisedChild();

  StartResult start(const Launch& launch) noexcept;
  WaitResult wait(uint64_t deadline_ns, ExitStatus& status) noexcept;
  void release() noexcept;  // the group survives; otherwise the destructor kills it

  static void reap() noexcept;  // reaps what earlier calls could not wait for

 private:
  void finish(uint32_t order) noexcept;

  SupervisorState* state_ = nullptr;
};

constexpr size_t stack_size = size_t{64} << 10;

constinit std::atomic<SupervisorState*> unfinished{nullptr};

size_t guarded_stack_size() noexcept {
  return stack_size + page_size();
}

size_t region_size() noexcept {
  return page_size() + 2 * guarded_stack_size();
}

char* stack_top(SupervisorState& state, size_t index) {
  return reinterpret_cast<char*>(&state) + page_size() + (index + 1) * guarded_stack_size();
}

SupervisorState* map_state() noexcept {
  void* region = mmap(nullptr, region_size(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (region == MAP_FAILED) return nullptr;
  SupervisorState* state = new (region) SupervisorState;
  for (size_t index = 0; index < 2; ++index) {
    mprotect(stack_top(*state, index) - guarded_stack_size(), page_size(), PROT_NONE);
  }
  state->program_stack = stack_top(*state, 1);
  return state;
}

// Limit of descriptor numbers to close where close_range is missing (before Linux 5.9). With an
// unlimited RLIMIT_NOFILE, closing every possible number would take minutes.
int find_descriptor_limit() noexcept {
  if (syscall(SYS_close_range, ~0U, ~0U, 0) == 0) return 0;
  constexpr int margin = 64;  // for descriptors that other threads open in the meantime
  int highest = 1024;
  for_each_entry("/proc/self/fd", [&](std::string_view name) {
    int number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    highest = std::max(highest, number);
    return true;
  });
  return highest + margin;
}

// Returns whether the supervisor has ended. If the host waited for it with __WALL, it has ended
// too.
bool has_ended(SupervisorState& state) noexcept {
  if (state.supervisor == 0) return true;
  const pid_t pid = waitpid(state.supervisor, nullptr, WNOHANG | static_cast<int>(__WCLONE));
  const bool is_reaped = pid == state.supervisor || (pid < 0 && errno == ECHILD);
  if (is_reaped) state.supervisor = 0;
  return is_reaped;
}

enum class PhaseChange { seen, timed_out, supervisor_lost };

// Waits for a change of phase. A killed supervisor wakes no waiter, so it is checked periodically.
PhaseChange await_change(SupervisorState& state, uint32_t phase, uint64_t deadline_ns) noexcept {
  for (;;) {
    const uint64_t slice = std::min(deadline_ns, monotonic_ns() + ns_per_second);
    if (wait_on(state.phase, phase, slice) == WakeReason::changed) return PhaseChange::seen;
    if (slice == deadline_ns) return PhaseChange::timed_out;
    if (!has_ended(state)) continue;
    const bool has_changed = state.phase.load(std::memory_order_acquire) != phase;
    return has_changed ? PhaseChange::seen : PhaseChange::supervisor_lost;
  }
}

void add_unfinished(SupervisorState* state) noexcept {
  state->next = unfinished.load(std::memory_order_relaxed);
  while (!unfinished.compare_exchange_weak(state->next, state, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

bool unmap_if_ended(SupervisorState* state) noexcept {
  if (!has_ended(*state) || state->program_in_memory.load(std::memory_order_acquire) != 0) {
    return false;
  }
  munmap(state, region_size());
  return true;
}

int create_supervisor(SupervisorState& state) noexcept {
  state.supervisor = clone(supervise, stack_top(state, 0), CLONE_VM, &state);
  if (state.supervisor >= 0) return 0;
  state.supervisor = 0;
  return errno;
}

StartResult start_supervisor(SupervisorState& state) noexcept {
  const int error = create_supervisor(state);
  if (error == EINVAL || error == ENOSYS || error == EPERM) return {StartState::unavailable, 0};
  if (error != 0) return {StartState::failed, error};
  const PhaseChange change = await_change(state, phase_starting, state.launch.deadline_ns);
  if (change == PhaseChange::supervisor_lost) return {StartState::failed, ECHILD};
  if (change == PhaseChange::timed_out) {
    kill(state.supervisor, SIGKILL);
    return {StartState::late, 0};
  }
  const bool has_failed = state.phase.load(std::memory_order_acquire) == phase_failed;
  return has_failed ? StartResult{StartState::failed, state.error}
                    : StartResult{StartState::running, 0};
}

StartResult SupervisedChild::start(const Launch& launch) noexcept {
  if constexpr (is_thread_sanitized) return {StartState::unavailable, 0};
  state_ = map_state();
  if (state_ == nullptr) return {StartState::failed, errno};
  state_->launch = launch;
  state_->descriptor_limit = find_descriptor_limit();
  // The supervisor inherits the mask: none of the host's handlers may run there.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const StartResult result = start_supervisor(*state_);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

WaitResult SupervisedChild::wait(uint64_t deadline_ns, ExitStatus& status) noexcept {
  const PhaseChange change = await_change(*state_, phase_running, deadline_ns);
  if (change == PhaseChange::timed_out) return WaitResult::timed_out;
  status = {change == PhaseChange::seen, state_->exit_code, state_->signal};
  return WaitResult::exited;
}

void SupervisedChild::release() noexcept {
  finish(order_let_live);
}

SupervisedChild::~SupervisedChild() {
  if (state_ != nullptr) finish(order_kill_all);
}

// Ends the supervisor. One that does not end at once (its program may be stuck in a driver) is left
// to a later call.
void SupervisedChild::finish(uint32_t order) noexcept {
  SupervisorState* state = state_;
  state_ = nullptr;
  state->order.store(order, std::memory_order_release);
  if (state->supervisor > 0) kill(state->supervisor, order_signal);
  constexpr int tries = 20;
  constexpr uint64_t pause = ns_per_ms / 10;
  for (int i = 0; i < tries; ++i) {
    if (unmap_if_ended(state)) return;
    sleep_ns(pause);
  }
  add_unfinished(state);
}

void SupervisedChild::reap() noexcept {
  SupervisorState* state = unfinished.exchange(nullptr, std::memory_order_acquire);
  while (state != nullptr) {
    SupervisorState* next = state->next;
    if (!unmap_if_ended(state)) add_unfinished(state);
    state = next;
  }
}

// Child with a supervisor, or a direct one if the kernel refuses that.
class EitherChild {
 public:
  StartResult start(const Launch& launch) noexcept {
    const StartResult result = supervised_.start(launch);
    is_direct_ = result.state == StartState::unavailable;
    return is_direct_ ? direct_.start(launch) : result;
  }
  WaitResult wait(uint64_t deadline_ns, ExitStatus& status) noexcept {
    return is_direct_ ? direct_.wait(deadline_ns, status) : supervised_.wait(deadline_ns, status);
  }
  void release() noexcept { is_direct_ ? direct_.release() : supervised_.release(); }

 private:
  SupervisedChild supervised_;
  SpawnedChild direct_;
  bool is_direct_ = false;
};

}  // namespace

Outcome run_child(const Launch& launch, Channel& channel, const Command& command) {
  return run_child_as<EitherChild>(launch, channel, command);
}

void reap_children() noexcept {
  SupervisedChild::reap();
  SpawnedChild::reap();
}

short spawn_closing_flag() noexcept {
  return 0;
}

int add_spawn_closing(posix_spawn_file_actions_t& actions) noexcept {
  return posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
}

int open_pipe(int (&ends)[2]) noexcept {
  return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
}

int await_readable(int descriptor, uint64_t deadline_ns) noexcept {
  for (;;) {
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return ETIMEDOUT;
    const uint64_t left = deadline_ns - now;
    const timespec limit{static_cast<time_t>(left / ns_per_second),
                         static_cast<long>(left % ns_per_second)};
    pollfd request{descriptor, POLLIN, 0};
    const int ready = ppoll(&request, 1, deadline_ns == UINT64_MAX ? nullptr : &limit, nullptr);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
  }
}

}  // namespace hmn::platform
