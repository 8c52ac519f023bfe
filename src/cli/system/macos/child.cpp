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

struct Child::Running {
  Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();
  void take_signals_over();
  InheritedSignals inherited() const { return {mask, before[0].sa_handler == SIG_IGN}; }
  void pass_signals_on() const;

  SignalPipe signals;
  struct sigaction before[signal_count] {};
  sigset_t mask{};
  bool has_signals = false;
  pid_t pid = -1;
  std::optional<ProcessEnd> end;
};

Child::Running::~Running() {
  if (has_signals) {
    for (int i = 0; i < signal_count; ++i) sigaction(taken[i], &before[i], nullptr);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }
  arrivals = -1;
}

void Child::Running::take_signals_over() {
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

void Child::Running::pass_signals_on() const {
  int signal = 0;
  while (read(signals.read_end(), &signal, sizeof signal) == sizeof signal)
    if (signal != SIGCHLD && !is_of_terminal(signal)) kill(pid, signal);
}

bool adopt_orphans() noexcept {
  return false;
}

Child::Child(std::unique_ptr<Running> started) : running_(std::move(started)) {}
Child::Child(Child&& other) noexcept = default;
Child::~Child() {
  outlast();
}

Expected<Child> Child::start(const std::vector<std::string>& command) {
  std::unique_ptr<Running> made;
  try {
    made = std::make_unique<Running>();
  } catch (const std::system_error& why) {
    return Failure{ExitCode::wrapper_failed,
                   fmt::format("cannot watch for signals: {}", std::strerror(why.code().value()))};
  }
  made->take_signals_over();
  if (const int error = spawn(command, made->inherited(), made->pid))
    return refusal(command.front(), error);
  return Child(std::move(made));
}

bool Child::wait_until(Clock::time_point time) {
  auto& in = *running_;
  while (!in.end) {
    pollfd waiting{in.signals.read_end(), POLLIN, 0};
    // So that an end whose SIGCHLD is lost is noticed.
    const auto soon = std::min(time, Clock::now() + std::chrono::milliseconds(500));
    if (poll(&waiting, 1, milliseconds_until(soon)) < 0 && errno != EINTR) usleep(10'000);
    in.pass_signals_on();
    in.end = end_of(in.pid, 1);  // ru_maxrss is in bytes here, not in KiB
    if (!in.end && Clock::now() >= time) return false;
  }
  return true;
}

bool Child::has_orphans() {
  return false;
}
std::uint32_t Child::pid() const {
  return static_cast<std::uint32_t>(running_->pid);
}
const ProcessEnd& Child::end() const {
  return *running_->end;
}

struct CommandGroup::State {};

const CommandGroup::Kind& CommandGroup::what() {
  static constexpr Kind is{"control group", "control_group", "", false};
  return is;
}

Expected<CommandGroup> CommandGroup::make(const Roots&) {
  return failed("macOS does not count the memory of several processes together");
}

CommandGroup::CommandGroup(std::unique_ptr<State> made) : state_(std::move(made)) {}
CommandGroup::CommandGroup(CommandGroup&& other) noexcept = default;
CommandGroup::~CommandGroup() = default;

Expected<Child> CommandGroup::start(const std::vector<std::string>& command, std::string&) const {
  return Child::start(command);
}

void CommandGroup::compare(const std::vector<ProcessTree::Member>&) {}

GroupPeak CommandGroup::peak() const {
  return {};
}

GroupPeak CommandGroup::device_peak(std::string_view) const {
  return {};
}

std::optional<std::uint64_t> CommandGroup::current_bytes() const {
  return std::nullopt;
}

std::vector<std::uint32_t> CommandGroup::processes() const {
  return {};
}

}  // namespace hmn::cli
