// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/linux/supervised_child.hpp"

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
#include "platform/linux/futex.hpp"
#include "platform/linux/supervisor.hpp"
#include "platform/process.hpp"
#include "platform/sanitizer.hpp"

namespace hmn::platform {
namespace {

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

}  // namespace

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

}  // namespace hmn::platform
