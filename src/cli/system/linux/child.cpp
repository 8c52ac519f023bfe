// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "cli/system/child.hpp"
#include "cli/system/posix/spawn.hpp"

namespace hmn::cli {
namespace {

// Signals that do not end hmn, that of WaitingNotice, and those of hmn's own faults.
constexpr int excluded_signals[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGURG,  SIGWINCH,
                                    SIGALRM, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP, SIGSYS};

// Returns the signals to wait for: any that would end hmn while the command runs. Ignored ones
// (nohup) are excluded, as a blocked signal stays pending even if ignored.
sigset_t make_watched_set() noexcept {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : excluded_signals) sigdelset(&set, signal);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    const bool is_ignored =
        sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (is_ignored && signal != SIGCHLD) sigdelset(&set, signal);
  }
  return set;
}

// Returns whether the terminal sent the signal, and so to the command as well.
bool is_from_terminal(const signalfd_siginfo& info) noexcept {
  const auto signal = static_cast<int>(info.ssi_signo);
  const bool is_terminal_signal = signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
  return is_terminal_signal && info.ssi_code == SI_KERNEL;
}

// Longest time until the end is noticed if its SIGCHLD is lost.
constexpr std::chrono::milliseconds longest_wait{500};
// Interval of looking for the end where ppoll fails.
constexpr std::chrono::milliseconds wait_without_poll{10};

timespec remaining_time(Child::Clock::time_point time) {
  using std::chrono::nanoseconds;
  const auto now = Child::Clock::now();
  const auto left = time > now ? nanoseconds(time - now).count() : 0;
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

// Returns whether hmn adopts orphans: they must then be waited for.
bool is_adopting() noexcept {
  int is_on = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &is_on, 0, 0, 0) == 0 && is_on == 1;
}

}  // namespace

bool adopt_orphans() noexcept {
  return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

struct Child::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
  void wait_for_signal(Clock::time_point time) const;
  void forward_signals() const;
  void reap();
  bool reap_orphans();
  bool watch_until(Clock::time_point time);
  void watch() noexcept;
  void start_watcher();

  InheritedSignals inherited;
  int signal_fd = -1;
  pid_t pid = -1;
  std::optional<ProcessEnd> end;
  ResourceUse orphans;  // of those that have ended
  // Watches for signals and for the end while hmn waits for a driver. Not running: wait_until()
  // does it.
  std::thread watcher;
  std::mutex mutex;
  std::condition_variable changed;
  bool has_ended = false;  // set by `watcher`
};

Child::State::~State() {
  if (watcher.joinable()) watcher.join();
  if (signal_fd < 0) return;
  close(signal_fd);
  pthread_sigmask(SIG_SETMASK, &inherited.mask, nullptr);
}

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&& other) noexcept = default;
Child::~Child() {
  wait_for_end();
}

Expected<Child> Child::start(const std::vector<std::string>& command) {
  auto state = std::make_unique<State>();
  const auto set = make_watched_set();
  state->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (state->signal_fd < 0)
    return Failure{ExitCode::wrapper_failed,
                   fmt::format("cannot watch for signals: {}", std::strerror(errno))};
  // An ignored SIGCHLD would discard the exit status.
  state->inherited.ignores_children = std::signal(SIGCHLD, SIG_DFL) == SIG_IGN;
  pthread_sigmask(SIG_BLOCK, &set, &state->inherited.mask);
  if (const int error = spawn(command, state->inherited, state->pid))
    return start_error(command.front(), error);
  state->start_watcher();
  return Child(std::move(state));
}

constexpr std::uint64_t maxrss_unit = 1024;  // getrusage(2): in KiB

void Child::State::reap() {
  end = reap_child(pid, maxrss_unit);
  reap_orphans();
  if (!end) return;
  end->use.may_include_hmn = true;
  end->use.user_ns += orphans.user_ns;
  end->use.system_ns += orphans.system_ns;
  end->use.largest_orphan_bytes = orphans.largest_bytes;
}

// Returns whether one may be running. Leaves the command itself, whose end another call takes. A
// supervisor in the library is not among the children that an ordinary wait sees.
bool Child::State::reap_orphans() {
  if (!is_adopting()) return false;
  for (;;) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno != ECHILD;
    if (info.si_pid == 0 || info.si_pid == pid) return true;
    const auto orphan_end = reap_child(info.si_pid, maxrss_unit);
    if (!orphan_end || !orphan_end->lost_reason.empty()) return true;
    orphans.user_ns += orphan_end->use.user_ns;
    orphans.system_ns += orphan_end->use.system_ns;
    orphans.largest_bytes =
        std::max(orphans.largest_bytes.value_or(0), orphan_end->use.largest_bytes.value_or(0));
  }
}

void Child::State::wait_for_signal(Clock::time_point time) const {
  pollfd poll_entry{signal_fd, POLLIN, 0};
  const auto timeout = remaining_time(std::min(time, Clock::now() + longest_wait));
  if (ppoll(&poll_entry, 1, &timeout, nullptr) >= 0 || errno == EINTR) return;
  const auto pause = remaining_time(std::min(time, Clock::now() + wait_without_poll));
  nanosleep(&pause, nullptr);
}

void Child::State::forward_signals() const {
  signalfd_siginfo info{};
  while (read(signal_fd, &info, sizeof info) == sizeof info) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal != SIGCHLD && !is_from_terminal(info)) kill(pid, signal);
  }
}

bool Child::State::watch_until(Clock::time_point time) {
  while (!end) {
    wait_for_signal(time);
    forward_signals();
    reap();
    if (!end && Clock::now() >= time) return false;
  }
  return true;
}

void Child::State::watch() noexcept {
  for (bool is_over = false; !is_over;) {
    try {
      is_over = watch_until(Clock::now() + std::chrono::hours(24));
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
  const std::lock_guard lock(mutex);
  has_ended = true;
  changed.notify_all();
}

void Child::State::start_watcher() {
  try {
    watcher = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

bool Child::wait_until(Clock::time_point time) {
  auto& state = *state_;
  if (!state.watcher.joinable()) return state.watch_until(time);
  std::unique_lock lock(state.mutex);
  return state.changed.wait_until(lock, time, [&state] { return state.has_ended; });
}

bool Child::has_orphans() {
  return state_->reap_orphans();
}
std::uint32_t Child::pid() const {
  return static_cast<std::uint32_t>(state_->pid);
}
const ProcessEnd& Child::end() const {
  return *state_->end;
}

}  // namespace hmn::cli
