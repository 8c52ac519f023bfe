// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/child.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/system/posix/spawn.hpp"

namespace hmn::cli {
namespace {

// Returns the signals to wait for. Ignored ones (nohup) are excluded, as a blocked signal stays
// pending even if ignored.
sigset_t awaited() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

timespec left_until(child::clock::time_point time) {
  using std::chrono::nanoseconds;
  const auto now = child::clock::now();
  const auto left = time > now ? nanoseconds(time - now).count() : 0;
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

}  // namespace

struct child::running {
  running() = default;
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running();
  void take_signals();
  void reap();

  sigset_t before{};
  int signals = -1;
  pid_t pid = -1;
  bool has_ended = false;
  exit_code status = exit_code::done;
  std::string ended_by;
  resource_use use;
};

child::running::~running() {
  if (signals < 0) return;
  close(signals);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

child::child(std::unique_ptr<running> started) : running_(std::move(started)) {}
child::child(child&& other) noexcept = default;
child::~child() = default;

expected<child> child::start(const std::vector<std::string>& command) {
  auto made = std::make_unique<running>();
  const auto set = awaited();
  made->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (made->signals < 0)
    return failure{exit_code::wrapper_failed, fmt::format("signals: {}", std::strerror(errno))};
  std::signal(SIGCHLD, SIG_DFL);  // ignored, it would discard the exit status
  pthread_sigmask(SIG_BLOCK, &set, &made->before);
  if (const int error = spawn(command, made->before, made->pid))
    return refusal(command.front(), error);
  return child(std::move(made));
}

void child::running::reap() {
  int ended = 0;
  rusage usage{};
  if (wait4(pid, &ended, WNOHANG, &usage) != pid) return;
  has_ended = true;
  status = code_of(ended);
  ended_by = signal_of(ended);
  use = use_of(usage);
  use.largest_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // getrusage(2): in KiB
  use.may_count_us = true;
}

void child::running::take_signals() {
  signalfd_siginfo arrived{};
  while (read(signals, &arrived, sizeof arrived) == sizeof arrived) {
    const auto signal = static_cast<int>(arrived.ssi_signo);
    if (signal == SIGCHLD)
      reap();
    else if (!has_ended && arrived.ssi_code != SI_KERNEL)
      kill(pid, signal);
  }
}

bool child::wait_until(clock::time_point time) {
  while (!running_->has_ended) {
    pollfd waiting{running_->signals, POLLIN, 0};
    const auto left = left_until(time);
    const int ready = ppoll(&waiting, 1, &left, nullptr);
    if (ready == 0) return false;
    if (ready > 0) running_->take_signals();
  }
  return true;
}

std::uint32_t child::pid() const {
  return static_cast<std::uint32_t>(running_->pid);
}
exit_code child::status() const {
  return running_->status;
}
const std::string& child::signal() const {
  return running_->ended_by;
}
const resource_use& child::use() const {
  return running_->use;
}

}  // namespace hmn::cli
