// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <system_error>

#include "cli/system/child.hpp"
#include "cli/system/command_group.hpp"
#include "cli/system/posix/signal_pipe.hpp"
#include "cli/system/posix/spawn.hpp"

namespace hmn::cli {
namespace {

// Those that would end hmn while the command runs.
constexpr int taken[] = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,   SIGHUP,
                         SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};
constexpr int signal_count = std::size(taken);

int arrivals = -1;

void take(int signal) {
  const int error = errno;
  [[maybe_unused]] const auto written = write(arrivals, &signal, sizeof signal);
  errno = error;
}

// Recognizes signals of the terminal. The kernel reports the terminal's program as the sender of
// Ctrl+C (psignal_internal), which reaches the whole foreground group.
bool is_of_terminal(int signal) {
  if (signal != SIGINT && signal != SIGQUIT) return false;
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  const bool is_in_front = tcgetpgrp(terminal) == getpgrp();
  close(terminal);
  return is_in_front;
}

}  // namespace

struct child::running {
  running() = default;
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running();
  void take_signals_over();
  inherited_signals inherited() const { return {mask, before[0].sa_handler == SIG_IGN}; }
  void pass_signals_on() const;

  signal_pipe signals;
  struct sigaction before[signal_count] {};
  sigset_t mask{};
  bool has_signals = false;
  pid_t pid = -1;
  std::optional<process_end> end;
};

child::running::~running() {
  if (has_signals) {
    for (int i = 0; i < signal_count; ++i) sigaction(taken[i], &before[i], nullptr);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }
  arrivals = -1;
}

void child::running::take_signals_over() {
  arrivals = signals.write_end();
  struct sigaction how {};
  how.sa_handler = take;
  how.sa_flags = SA_RESTART;
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < signal_count; ++i) {
    sigaction(taken[i], nullptr, &before[i]);
    // nohup; an ignored SIGCHLD (the first) would discard the exit status
    if (taken[i] == SIGCHLD || before[i].sa_handler != SIG_IGN) sigaction(taken[i], &how, nullptr);
    sigaddset(&set, taken[i]);
  }
  pthread_sigmask(SIG_UNBLOCK, &set, &mask);  // the caller may have blocked them
  has_signals = true;
}

void child::running::pass_signals_on() const {
  int signal = 0;
  while (read(signals.read_end(), &signal, sizeof signal) == sizeof signal)
    if (signal != SIGCHLD && !is_of_terminal(signal)) kill(pid, signal);
}

bool adopt_orphans() noexcept {
  return false;
}

child::child(std::unique_ptr<running> started) : running_(std::move(started)) {}
child::child(child&& other) noexcept = default;
child::~child() {
  outlast();
}

expected<child> child::start(const std::vector<std::string>& command) {
  std::unique_ptr<running> made;
  try {
    made = std::make_unique<running>();
  } catch (const std::system_error& why) {
    return failure{exit_code::wrapper_failed,
                   fmt::format("cannot watch for signals: {}", std::strerror(why.code().value()))};
  }
  made->take_signals_over();
  if (const int error = spawn(command, made->inherited(), made->pid))
    return refusal(command.front(), error);
  return child(std::move(made));
}

bool child::wait_until(clock::time_point time) {
  auto& in = *running_;
  while (!in.end) {
    pollfd waiting{in.signals.read_end(), POLLIN, 0};
    // So that an end whose SIGCHLD is lost is noticed.
    const auto soon = std::min(time, clock::now() + std::chrono::milliseconds(500));
    if (poll(&waiting, 1, milliseconds_until(soon)) < 0 && errno != EINTR) usleep(10'000);
    in.pass_signals_on();
    in.end = end_of(in.pid, 1);  // ru_maxrss is in bytes here, not in KiB
    if (!in.end && clock::now() >= time) return false;
  }
  return true;
}

bool child::has_orphans() {
  return false;
}
std::uint32_t child::pid() const {
  return static_cast<std::uint32_t>(running_->pid);
}
const process_end& child::end() const {
  return *running_->end;
}

struct command_group::state {};

const command_group::kind& command_group::what() {
  static constexpr kind is{"control group", "control_group", "", false};
  return is;
}

expected<command_group> command_group::make(const roots&) {
  return failed("macOS does not count the memory of several processes together");
}

command_group::command_group(std::unique_ptr<state> made) : state_(std::move(made)) {}
command_group::command_group(command_group&& other) noexcept = default;
command_group::~command_group() = default;

expected<child> command_group::start(const std::vector<std::string>& command, std::string&) const {
  return child::start(command);
}

void command_group::compare(const std::vector<process_tree::member>&) {}

group_peak command_group::peak() const {
  return {};
}

group_peak command_group::device_peak(std::string_view) const {
  return {};
}

std::optional<std::uint64_t> command_group::current_bytes() const {
  return std::nullopt;
}

std::vector<std::uint32_t> command_group::processes() const {
  return {};
}

}  // namespace hmn::cli
