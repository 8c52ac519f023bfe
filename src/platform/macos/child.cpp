// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "platform/clock.hpp"
#include "platform/posix/subprocess.hpp"

namespace hmn::platform {
namespace {

constexpr int forever = -1;

int close_on_exec(int (&ends)[2]) noexcept {
  if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0)
    return 0;
  const int error = errno;
  ::close(ends[0]);
  ::close(ends[1]);
  return error;
}

// Rounds up, so that the last part of a millisecond is spent waiting rather than spinning.
int to_milliseconds(uint64_t ns) noexcept {
  const uint64_t rounded = ns / ns_per_ms + (ns % ns_per_ms != 0 ? 1 : 0);
  return static_cast<int>(std::min<uint64_t>(rounded, INT_MAX));
}

}  // namespace

Outcome run_child(const Launch& launch, Channel& channel, const Command& command) {
  return run_child_as<SpawnedChild>(launch, channel, command);
}

void reap_children() noexcept {
  SpawnedChild::reap();
}

// The kernel closes every descriptor that no file action names.
short spawn_closing_flag() noexcept {
  return POSIX_SPAWN_CLOEXEC_DEFAULT;
}

int add_spawn_closing(posix_spawn_file_actions_t& /*actions*/) noexcept {
  return 0;
}

// There is no pipe2: a program that the host starts between the two steps keeps the ends open.
int open_pipe(int (&ends)[2]) noexcept {
  return pipe(ends) == 0 ? close_on_exec(ends) : errno;
}

int await_readable(int descriptor, uint64_t deadline_ns) noexcept {
  for (;;) {
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return ETIMEDOUT;
    pollfd request{descriptor, POLLIN, 0};
    const int limit = deadline_ns == UINT64_MAX ? forever : to_milliseconds(deadline_ns - now);
    const int ready = poll(&request, 1, limit);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
  }
}

}  // namespace hmn::platform
