// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/spawned_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/posix/child.hpp"

namespace hmn::platform {
namespace {

constinit std::array<std::atomic<pid_t>, 32> unfinished{};

void remember(pid_t child) noexcept {
  for (std::atomic<pid_t>& slot : unfinished) {
    pid_t empty = 0;
    if (slot.compare_exchange_strong(empty, child)) return;
  }
}

bool is_gone(pid_t child) noexcept {
  return waitpid(child, nullptr, WNOHANG) != 0;
}

// Tests ownership: once the host has reaped the child, its number may belong to another process.
bool is_ours(pid_t child) noexcept {
  siginfo_t info;
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

class spawn_attributes {
 public:
  spawn_attributes() noexcept : error_(posix_spawnattr_init(&value_)) {
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    constexpr int flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    note(posix_spawnattr_setflags(&value_, static_cast<short>(flags | spawn_closing_flag())));
    note(posix_spawnattr_setsigdefault(&value_, &all));
    note(posix_spawnattr_setsigmask(&value_, &none));
  }
  spawn_attributes(const spawn_attributes&) = delete;
  ~spawn_attributes() { posix_spawnattr_destroy(&value_); }
  int error() const noexcept { return error_; }
  const posix_spawnattr_t* get() const noexcept { return &value_; }

 private:
  void note(int error) noexcept { error_ = error_ != 0 ? error_ : error; }

  posix_spawnattr_t value_;
  int error_;
};

class spawn_actions {
 public:
  explicit spawn_actions(const launch& what) noexcept
      : error_(posix_spawn_file_actions_init(&value_)) {
    note(posix_spawn_file_actions_adddup2(&value_, what.input, STDIN_FILENO));
    note(posix_spawn_file_actions_adddup2(&value_, what.output, STDOUT_FILENO));
    note(posix_spawn_file_actions_adddup2(&value_, what.errors, STDERR_FILENO));
    note(posix_spawn_file_actions_addchdir_np(&value_, "/"));
    note(add_spawn_closing(value_));
  }
  spawn_actions(const spawn_actions&) = delete;
  ~spawn_actions() { posix_spawn_file_actions_destroy(&value_); }
  int error() const noexcept { return error_; }
  const posix_spawn_file_actions_t* get() const noexcept { return &value_; }

 private:
  void note(int error) noexcept { error_ = error_ != 0 ? error_ : error; }

  posix_spawn_file_actions_t value_;
  int error_;
};

}  // namespace

start_result spawned_child::start(const launch& what) noexcept {
  // Check first, as an emulator's fork loses the error of a later execve.
  if (faccessat(AT_FDCWD, what.path, X_OK, AT_EACCESS) != 0) return {started::failed, errno};
  if (!is_executable_file(what.path)) return {started::failed, EACCES};
  const spawn_attributes attributes;
  const spawn_actions actions(what);
  int error = attributes.error() != 0 ? attributes.error() : actions.error();
  if (error == 0) {
    error = posix_spawn(&child_, what.path, actions.get(), attributes.get(), what.arguments,
                        what.environment);
  }
  if (error == 0) return {started::running, 0};
  child_ = 0;
  return {started::failed, error};
}

ended spawned_child::wait(uint64_t deadline_ns, exit_status& status) noexcept {
  uint64_t pause = ns_per_ms / 4;
  for (;;) {
    int raw = 0;
    const pid_t waited = waitpid(child_, &raw, WNOHANG);
    if (waited != 0) {
      if (waited == child_) {
        status = {true, WIFEXITED(raw) ? WEXITSTATUS(raw) : 0,
                  WIFSIGNALED(raw) ? WTERMSIG(raw) : 0};
      }
      child_ = 0;
      return ended::exited;
    }
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return ended::timed_out;
    sleep_ns(std::min(pause, deadline_ns - now));
    pause = std::min(2 * pause, 10 * ns_per_ms);
  }
}

spawned_child::~spawned_child() {
  if (child_ == 0 || !is_ours(child_)) return;
  kill(-child_, SIGKILL);
  kill(child_, SIGKILL);
  constexpr int tries = 20;
  for (int i = 0; i < tries; ++i) {
    if (is_gone(child_)) return;
    sleep_ns(ns_per_ms / 10);
  }
  remember(child_);
}

void spawned_child::collect() noexcept {
  for (std::atomic<pid_t>& slot : unfinished) {
    const pid_t child = slot.exchange(0);
    if (child != 0 && !is_gone(child)) remember(child);
  }
}

}  // namespace hmn::platform
