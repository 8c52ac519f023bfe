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
class supervised_child {
 public:
  supervised_child() noexcept = default;
  supervised_child(const supervised_child&) = delete;
  supervised_child& operator=(const supervised_child&) = delete;
  ~supervised_child();

  start_result start(const launch& what) noexcept;
  ended wait(uint64_t deadline_ns, exit_status& status) noexcept;
  void release() noexcept;  // the group survives; otherwise the destructor kills it

  static void collect() noexcept;  // reaps what earlier calls could not wait for

 private:
  void finish(uint32_t order) noexcept;

  supervision* shared_ = nullptr;
};

constexpr size_t stack_size = size_t{64} << 10;

constinit std::atomic<supervision*> unfinished{nullptr};

size_t guarded_stack() noexcept {
  return stack_size + page_size();
}

size_t region_size() noexcept {
  return page_size() + 2 * guarded_stack();
}

char* stack_top(supervision& shared, size_t which) {
  return reinterpret_cast<char*>(&shared) + page_size() + (which + 1) * guarded_stack();
}

supervision* map_shared() noexcept {
  void* region = mmap(nullptr, region_size(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (region == MAP_FAILED) return nullptr;
  supervision* made = new (region) supervision;
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
bool is_gone(supervision& shared) noexcept {
  if (shared.supervisor == 0) return true;
  const pid_t waited = waitpid(shared.supervisor, nullptr, WNOHANG | static_cast<int>(__WCLONE));
  const bool gone = waited == shared.supervisor || (waited < 0 && errno == ECHILD);
  if (gone) shared.supervisor = 0;
  return gone;
}

enum class change { seen, timed_out, supervisor_lost };

// Waits for a change of phase. A killed supervisor wakes no waiter, so it is checked periodically.
change await_change(supervision& shared, uint32_t from, uint64_t deadline_ns) noexcept {
  for (;;) {
    const uint64_t slice = std::min(deadline_ns, monotonic_ns() + ns_per_second);
    if (wait_on(shared.now, from, slice) == wake::changed) return change::seen;
    if (slice == deadline_ns) return change::timed_out;
    if (!is_gone(shared)) continue;
    const bool seen = shared.now.load(std::memory_order_acquire) != from;
    return seen ? change::seen : change::supervisor_lost;
  }
}

void remember(supervision* left) noexcept {
  left->next = unfinished.load(std::memory_order_relaxed);
  while (!unfinished.compare_exchange_weak(left->next, left, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

bool unmap_if_gone(supervision* shared) noexcept {
  if (!is_gone(*shared) || shared->program_is_here.load(std::memory_order_acquire) != 0) {
    return false;
  }
  munmap(shared, region_size());
  return true;
}

int create_supervisor(supervision& shared) noexcept {
  shared.supervisor = clone(supervise, stack_top(shared, 0), CLONE_VM, &shared);
  if (shared.supervisor >= 0) return 0;
  shared.supervisor = 0;
  return errno;
}

start_result follow_start(supervision& shared) noexcept {
  const int error = create_supervisor(shared);
  if (error == EINVAL || error == ENOSYS || error == EPERM) return {started::unavailable, 0};
  if (error != 0) return {started::failed, error};
  const change came = await_change(shared, phase_starting, shared.what.deadline_ns);
  if (came == change::supervisor_lost) return {started::failed, ECHILD};
  if (came == change::timed_out) {
    kill(shared.supervisor, SIGKILL);
    return {started::late, 0};
  }
  const bool has_failed = shared.now.load(std::memory_order_acquire) == phase_failed;
  return has_failed ? start_result{started::failed, shared.error}
                    : start_result{started::running, 0};
}

start_result supervised_child::start(const launch& what) noexcept {
  if constexpr (is_thread_sanitized) return {started::unavailable, 0};
  shared_ = map_shared();
  if (shared_ == nullptr) return {started::failed, errno};
  shared_->what = what;
  shared_->descriptor_limit = descriptor_limit();
  // The supervisor inherits the mask: none of the host's handlers may run there.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const start_result result = follow_start(*shared_);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

ended supervised_child::wait(uint64_t deadline_ns, exit_status& status) noexcept {
  const change came = await_change(*shared_, phase_running, deadline_ns);
  if (came == change::timed_out) return ended::timed_out;
  status = {came == change::seen, shared_->exit_code, shared_->signal};
  return ended::exited;
}

void supervised_child::release() noexcept {
  finish(order_let_live);
}

supervised_child::~supervised_child() {
  if (shared_ != nullptr) finish(order_kill_all);
}

// Ends the supervisor. One that does not end at once (its program may be stuck in a driver) is left
// to a later call.
void supervised_child::finish(uint32_t ordered) noexcept {
  supervision* shared = shared_;
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

void supervised_child::collect() noexcept {
  supervision* left = unfinished.exchange(nullptr, std::memory_order_acquire);
  while (left != nullptr) {
    supervision* next = left->next;
    if (!unmap_if_gone(left)) remember(left);
    left = next;
  }
}

// Child with a supervisor, or a direct one if the kernel refuses that.
class either_child {
 public:
  start_result start(const launch& what) noexcept {
    const start_result first = supervised_.start(what);
    is_direct_ = first.what == started::unavailable;
    return is_direct_ ? direct_.start(what) : first;
  }
  ended wait(uint64_t deadline_ns, exit_status& status) noexcept {
    return is_direct_ ? direct_.wait(deadline_ns, status) : supervised_.wait(deadline_ns, status);
  }
  void release() noexcept { is_direct_ ? direct_.release() : supervised_.release(); }

 private:
  supervised_child supervised_;
  spawned_child direct_;
  bool is_direct_ = false;
};

}  // namespace

outcome run_child(const launch& what, channel& open, const command& given) {
  return run_as<either_child>(what, open, given);
}

void collect_children() noexcept {
  supervised_child::collect();
  spawned_child::collect();
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
