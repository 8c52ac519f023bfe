// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "platform/clock.hpp"
#include "platform/linux/supervised_child.hpp"
#include "platform/posix/child.hpp"
#include "platform/posix/running.hpp"
#include "platform/posix/spawned_child.hpp"

namespace hmn::platform {

namespace {

// Child with a supervisor, or a direct one where the kernel refuses that.
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
