// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/child.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/output.hpp"

namespace hmn::cli {
namespace {

// A blocked signal waits to be read even where it is ignored (nohup), so those are left out.
sigset_t awaited() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

// What hmn changed for itself.
sigset_t restored() noexcept {
  sigset_t set;
  sigemptyset(&set);
  if (!pipe_signal_was_ignored()) sigaddset(&set, SIGPIPE);
  return set;
}

std::vector<char*> argument_vector(const std::vector<std::string>& command) {
  std::vector<char*> made;
  for (const auto& word : command) made.push_back(const_cast<char*>(word.c_str()));
  made.push_back(nullptr);
  return made;
}

int spawn(const std::vector<std::string>& command, const sigset_t& mask, pid_t& pid) {
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  const auto defaults = restored();
  posix_spawnattr_setsigmask(&how, &mask);
  posix_spawnattr_setsigdefault(&how, &defaults);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const auto arguments = argument_vector(command);
  const int error = posix_spawnp(&pid, arguments[0], nullptr, &how, arguments.data(), environ);
  posix_spawnattr_destroy(&how);
  return error;
}

failure refusal(const std::string& program, int error) {
  const auto code = error == ENOENT ? exit_code::not_found : exit_code::not_runnable;
  return {code, fmt::format("failed to spawn \"{}\": {}", program, std::strerror(error))};
}

exit_code code_of(int status) noexcept {
  if (!WIFSIGNALED(status)) return static_cast<exit_code>(WEXITSTATUS(status));
  return static_cast<exit_code>(static_cast<int>(exit_code::killed) + WTERMSIG(status));
}

timespec left_until(child::clock::time_point time) {
  using std::chrono::nanoseconds;
  const auto now = child::clock::now();
  const auto left = time > now ? nanoseconds(time - now).count() : 0;
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

}  // namespace

child::child(child&& other) noexcept
    : before_(other.before_),
      signals_(std::exchange(other.signals_, -1)),
      pid_(other.pid_),
      has_ended_(other.has_ended_),
      status_(other.status_),
      use_(other.use_) {}

child::~child() {
  if (signals_ < 0) return;
  close(signals_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

expected<child> child::start(const std::vector<std::string>& command) {
  child made;
  const auto set = awaited();
  made.signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (made.signals_ < 0)
    return failure{exit_code::wrapper_failed, fmt::format("signals: {}", std::strerror(errno))};
  std::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the exit status along
  pthread_sigmask(SIG_BLOCK, &set, &made.before_);
  if (const int error = spawn(command, made.before_, made.pid_))
    return refusal(command.front(), error);
  return made;
}

failure child::replace_us(const std::vector<std::string>& command) {
  if (!pipe_signal_was_ignored()) std::signal(SIGPIPE, SIG_DFL);
  const auto arguments = argument_vector(command);
  execvp(arguments[0], arguments.data());
  return refusal(command.front(), errno);
}

bool child::reap() {
  int status = 0;
  if (wait4(pid_, &status, WNOHANG, &use_) != pid_) return false;
  has_ended_ = true;
  status_ = code_of(status);
  return true;
}

bool child::take_signals() {
  signalfd_siginfo arrived{};
  while (read(signals_, &arrived, sizeof arrived) == sizeof arrived) {
    const auto signal = static_cast<int>(arrived.ssi_signo);
    if (signal == SIGCHLD)
      reap();
    else if (!has_ended_ && arrived.ssi_code != SI_KERNEL)
      kill(pid_, signal);
  }
  return has_ended_;
}

bool child::wait_until(clock::time_point time) {
  while (!has_ended_) {
    pollfd waiting{signals_, POLLIN, 0};
    const auto left = left_until(time);
    const int ready = ppoll(&waiting, 1, &left, nullptr);
    if (ready == 0) return false;
    if (ready > 0) take_signals();
  }
  return true;
}

bool child::wait() {
  while (!wait_until(clock::now() + std::chrono::hours(24))) continue;
  return has_ended_;
}

}  // namespace hmn::cli
