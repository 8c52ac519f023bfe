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
constexpr int handled_signals[] = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,   SIGHUP,
                                   SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};
constexpr int signal_count = std::size(handled_signals);

int signal_fd = -1;

void handle_signal(int signal) {
  const int error = errno;
  [[maybe_unused]] const auto written = write(signal_fd, &signal, sizeof signal);
  errno = error;
}

// Recognizes signals of the terminal. The kernel reports the terminal's program as the sender of
// Ctrl+C (psignal_internal), which reaches the whole foreground group.
bool is_from_terminal(int signal) {
  if (signal != SIGINT && signal != SIGQUIT) return false;
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  const bool is_in_front = tcgetpgrp(terminal) == getpgrp();
  close(terminal);
  return is_in_front;
}

}  // namespace

struct Child::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
  void install_handlers();
  InheritedSignals inherited() const { return {mask, before[0].sa_handler == SIG_IGN}; }
  void forward_signals() const;

  SignalPipe signals;
  struct sigaction before[signal_count] {};
  sigset_t mask{};
  bool has_handlers = false;
  pid_t pid = -1;
  std::optional<ProcessEnd> end;
};

Child::State::~State() {
  if (has_handlers) {
    for (int i = 0; i < signal_count; ++i) sigaction(handled_signals[i], &before[i], nullptr);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }
  signal_fd = -1;
}

void Child::State::install_handlers() {
  signal_fd = signals.write_end();
  struct sigaction action {};
  action.sa_handler = handle_signal;
  action.sa_flags = SA_RESTART;
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < signal_count; ++i) {
    sigaction(handled_signals[i], nullptr, &before[i]);
    // nohup; an ignored SIGCHLD (the first) would discard the exit status
    if (handled_signals[i] == SIGCHLD || before[i].sa_handler != SIG_IGN)
      sigaction(handled_signals[i], &action, nullptr);
    sigaddset(&set, handled_signals[i]);
  }
  pthread_sigmask(SIG_UNBLOCK, &set, &mask);  // the caller may have blocked them
  has_handlers = true;
}

void Child::State::forward_signals() const {
  int signal = 0;
  while (read(signals.read_end(), &signal, sizeof signal) == sizeof signal)
    if (signal != SIGCHLD && !is_from_terminal(signal)) kill(pid, signal);
}

bool adopt_orphans() noexcept {
  return false;
}

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&& other) noexcept = default;
Child::~Child() {
  wait_for_end();
}

Expected<Child> Child::start(const std::vector<std::string>& command) {
  std::unique_ptr<State> state;
  try {
    state = std::make_unique<State>();
  } catch (const std::system_error& error) {
    return Failure{ExitCode::wrapper_failed, fmt::format("cannot watch for signals: {}",
                                                         std::strerror(error.code().value()))};
  }
  state->install_handlers();
  if (const int error = spawn(command, state->inherited(), state->pid))
    return start_error(command.front(), error);
  return Child(std::move(state));
}

bool Child::wait_until(Clock::time_point time) {
  auto& state = *state_;
  while (!state.end) {
    pollfd poll_entry{state.signals.read_end(), POLLIN, 0};
    // Notices the end even if its SIGCHLD is lost.
    const auto soon = std::min(time, Clock::now() + std::chrono::milliseconds(500));
    if (poll(&poll_entry, 1, milliseconds_until(soon)) < 0 && errno != EINTR) usleep(10'000);
    state.forward_signals();
    state.end = reap_child(state.pid, 1);  // ru_maxrss is in bytes here, not in KiB
    if (!state.end && Clock::now() >= time) return false;
  }
  return true;
}

bool Child::has_orphans() {
  return false;
}
std::uint32_t Child::pid() const {
  return static_cast<std::uint32_t>(state_->pid);
}
const ProcessEnd& Child::end() const {
  return *state_->end;
}

struct CommandGroup::State {};

const CommandGroup::Kind& CommandGroup::kind() {
  static constexpr Kind description{"control group", "control_group", "", false};
  return description;
}

Expected<CommandGroup> CommandGroup::make(const Roots&) {
  return make_failure("macOS does not count the memory of several processes together");
}

CommandGroup::CommandGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
CommandGroup::CommandGroup(CommandGroup&& other) noexcept = default;
CommandGroup::~CommandGroup() = default;

Expected<Child> CommandGroup::start(const std::vector<std::string>& command, std::string&) const {
  return Child::start(command);
}

void CommandGroup::check_members(const std::vector<ProcessTree::Member>&) {}

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
