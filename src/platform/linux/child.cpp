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

  StartResult start(const Launch& what) noexcept;
  Ended wait(uint64_t deadline_ns, ExitStatus& status) noexcept;
  void release() noexcept;  // the group survives; otherwise the destructor kills it

  static void collect() noexcept;  // reaps what earlier calls could not wait for

 private:
  void finish(uint32_t order) noexcept;

  Supervision* shared_ = nullptr;
};

constexpr size_t stack_size = size_t{64} << 10;

constinit std::atomic<Supervision*> unfinished{nullptr};

size_t guarded_stack() noexcept {
  return stack_size + page_size();
}

size_t region_size() noexcept {
  return page_size() + 2 * guarded_stack();
}

char* stack_top(Supervision& shared, size_t which) {
  return reinterpret_cast<char*>(&shared) + page_size() + (which + 1) * guarded_stack();
}

Supervision* map_shared() noexcept {
  void* region = mmap(nullptr, region_size(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (region == MAP_FAILED) return nullptr;
  Supervision* made = new (region) Supervision;
  for (size_t which = 0; which < 2; ++which) {
    mprotect(stack_top(*made, which) - guarded_stack(), page_size(), PROT_NONE);
  }
  made->program_stack = stack_top(*made, 1);
  return made;
}

// Limit of descriptor numbers to close where close_range is missing (before Linux 5.9). With an
// unlimited RLIMIT_NOFILE, closing every possible number would take minutes.
int descriptor_limit() noexcept {
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

// Tests for the end of the supervisor. If the host waited for it with __WALL, it is gone as well.
bool is_gone(Supervision& shared) noexcept {
  if (shared.supervisor == 0) return true;
  const pid_t waited = waitpid(shared.supervisor, nullptr, WNOHANG | static_cast<int>(__WCLONE));
  const bool gone = waited == shared.supervisor || (waited < 0 && errno == ECHILD);
  if (gone) shared.supervisor = 0;
  return gone;
}

enum class Change { seen, timed_out, supervisor_lost };

// Waits for a change of phase. A killed supervisor wakes no waiter, so it is checked periodically.
Change await_change(Supervision& shared, uint32_t from, uint64_t deadline_ns) noexcept {
  for (;;) {
    const uint64_t slice = std::min(deadline_ns, monotonic_ns() + ns_per_second);
    if (wait_on(shared.now, from, slice) == Wake::changed) return Change::seen;
    if (slice == deadline_ns) return Change::timed_out;
    if (!is_gone(shared)) continue;
    const bool seen = shared.now.load(std::memory_order_acquire) != from;
    return seen ? Change::seen : Change::supervisor_lost;
  }
}

void remember(Supervision* left) noexcept {
  left->next = unfinished.load(std::memory_order_relaxed);
  while (!unfinished.compare_exchange_weak(left->next, left, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

bool unmap_if_gone(Supervision* shared) noexcept {
  if (!is_gone(*shared) || shared->program_is_here.load(std::memory_order_acquire) != 0) {
    return false;
  }
  munmap(shared, region_size());
  return true;
}

int create_supervisor(Supervision& shared) noexcept {
  shared.supervisor = clone(supervise, stack_top(shared, 0), CLONE_VM, &shared);
  if (shared.supervisor >= 0) return 0;
  shared.supervisor = 0;
  return errno;
}

StartResult follow_start(Supervision& shared) noexcept {
  const int error = create_supervisor(shared);
  if (error == EINVAL || error == ENOSYS || error == EPERM) return {Started::unavailable, 0};
  if (error != 0) return {Started::failed, error};
  const Change came = await_change(shared, phase_starting, shared.what.deadline_ns);
  if (came == Change::supervisor_lost) return {Started::failed, ECHILD};
  if (came == Change::timed_out) {
    kill(shared.supervisor, SIGKILL);
    return {Started::late, 0};
  }
  const bool has_failed = shared.now.load(std::memory_order_acquire) == phase_failed;
  return has_failed ? StartResult{Started::failed, shared.error} : StartResult{Started::running, 0};
}

StartResult SupervisedChild::start(const Launch& what) noexcept {
  if constexpr (is_thread_sanitized) return {Started::unavailable, 0};
  shared_ = map_shared();
  if (shared_ == nullptr) return {Started::failed, errno};
  shared_->what = what;
  shared_->descriptor_limit = descriptor_limit();
  // The supervisor inherits the mask: none of the host's handlers may run there.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const StartResult result = follow_start(*shared_);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

Ended SupervisedChild::wait(uint64_t deadline_ns, ExitStatus& status) noexcept {
  const Change came = await_change(*shared_, phase_running, deadline_ns);
  if (came == Change::timed_out) return Ended::timed_out;
  status = {came == Change::seen, shared_->exit_code, shared_->signal};
  return Ended::exited;
}

void SupervisedChild::release() noexcept {
  finish(order_let_live);
}

SupervisedChild::~SupervisedChild() {
  if (shared_ != nullptr) finish(order_kill_all);
}

// Ends the supervisor. One that does not end at once (its program may be stuck in a driver) is left
// to a later call.
void SupervisedChild::finish(uint32_t ordered) noexcept {
  Supervision* shared = shared_;
  shared_ = nullptr;
  shared->ordered.store(ordered, std::memory_order_release);
  if (shared->supervisor > 0) kill(shared->supervisor, order_signal);
  constexpr int tries = 20;
  constexpr uint64_t pause = ns_per_ms / 10;
  for (int i = 0; i < tries; ++i) {
    if (unmap_if_gone(shared)) return;
    sleep_ns(pause);
  }
  remember(shared);
}

void SupervisedChild::collect() noexcept {
  Supervision* left = unfinished.exchange(nullptr, std::memory_order_acquire);
  while (left != nullptr) {
    Supervision* next = left->next;
    if (!unmap_if_gone(left)) remember(left);
    left = next;
  }
}

// Child with a supervisor, or a direct one if the kernel refuses that.
class EitherChild {
 public:
  StartResult start(const Launch& what) noexcept {
    const StartResult first = supervised_.start(what);
    is_direct_ = first.what == Started::unavailable;
    return is_direct_ ? direct_.start(what) : first;
  }
  Ended wait(uint64_t deadline_ns, ExitStatus& status) noexcept {
    return is_direct_ ? direct_.wait(deadline_ns, status) : supervised_.wait(deadline_ns, status);
  }
  void release() noexcept { is_direct_ ? direct_.release() : supervised_.release(); }

 private:
  SupervisedChild supervised_;
  SpawnedChild direct_;
  bool is_direct_ = false;
};

}  // namespace

Outcome run_child(const Launch& what, Channel& open, const Command& given) {
  return run_as<EitherChild>(what, open, given);
}

void collect_children() noexcept {
  SupervisedChild::collect();
  SpawnedChild::collect();
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

int await_readable(int from, uint64_t deadline_ns) noexcept {
  for (;;) {
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return ETIMEDOUT;
    const uint64_t left = deadline_ns - now;
    const timespec limit{static_cast<time_t>(left / ns_per_second),
                         static_cast<long>(left % ns_per_second)};
    pollfd waiting{from, POLLIN, 0};
    const int ready = ppoll(&waiting, 1, deadline_ns == UINT64_MAX ? nullptr : &limit, nullptr);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
  }
}

}  // namespace hmn::platform
