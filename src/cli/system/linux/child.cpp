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

// Signals that do not end hmn, among them that of waiting_notice, and those of a fault of its own.
constexpr int not_awaited[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGURG,  SIGWINCH,
                               SIGALRM, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP, SIGSYS};

// Returns the signals to wait for: any that would end hmn while the command runs. Ignored ones
// (nohup) are excluded, as a blocked signal stays pending even if ignored.
sigset_t awaited() noexcept {
  sigset_t set;
  sigfillset(&set);
  for (const int each : not_awaited) sigdelset(&set, each);
  for (int each = 1; each < NSIG; ++each) {
    struct sigaction now {};
    const bool is_ignored = sigaction(each, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
    if (is_ignored && each != SIGCHLD) sigdelset(&set, each);
  }
  return set;
}

// Recognizes what the terminal has sent to the command as well.
bool is_of_terminal(const signalfd_siginfo& arrived) noexcept {
  const auto signal = static_cast<int>(arrived.ssi_signo);
  const bool can_be = signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
  return can_be && arrived.ssi_code == SI_KERNEL;
}

// Longest time that an end goes unnoticed whose SIGCHLD is lost.
constexpr std::chrono::milliseconds longest_wait{500};
// Interval of looking for the end where ppoll fails.
constexpr std::chrono::milliseconds wait_without_poll{10};

timespec left_until(Child::Clock::time_point time) {
  using std::chrono::nanoseconds;
  const auto now = Child::Clock::now();
  const auto left = time > now ? nanoseconds(time - now).count() : 0;
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

// Returns whether hmn adopts orphans: they are then to be waited for.
bool is_adopting() noexcept {
  int is_on = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &is_on, 0, 0, 0) == 0 && is_on == 1;
}

}  // namespace

bool adopt_orphans() noexcept {
  return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

struct Child::Running {
  Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();
  void wait_for_signal(Clock::time_point time) const;
  void take_signals() const;
  void reap();
  bool reap_orphans();
  bool look_until(Clock::time_point time);
  void look() noexcept;
  void start_to_look();

  InheritedSignals before;
  int signals = -1;
  pid_t pid = -1;
  std::optional<ProcessEnd> end;
  ResourceUse orphans;  // of those that have ended
  // Looks for signals and for the end while hmn waits for a driver. None: wait_until() does.
  std::thread looks;
  std::mutex mutex;
  std::condition_variable changed;
  bool has_ended = false;  // `looks` sets it
};

Child::Running::~Running() {
  if (looks.joinable()) looks.join();
  if (signals < 0) return;
  close(signals);
  pthread_sigmask(SIG_SETMASK, &before.mask, nullptr);
}

Child::Child(std::unique_ptr<Running> started) : running_(std::move(started)) {}
Child::Child(Child&& other) noexcept = default;
Child::~Child() {
  outlast();
}

Expected<Child> Child::start(const std::vector<std::string>& command) {
  auto made = std::make_unique<Running>();
  const auto set = awaited();
  made->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (made->signals < 0)
    return Failure{ExitCode::wrapper_failed,
                   fmt::format("cannot watch for signals: {}", std::strerror(errno))};
  // Ignored, it would discard the exit status.
  made->before.ignores_children = std::signal(SIGCHLD, SIG_DFL) == SIG_IGN;
  pthread_sigmask(SIG_BLOCK, &set, &made->before.mask);
  if (const int error = spawn(command, made->before, made->pid))
    return refusal(command.front(), error);
  made->start_to_look();
  return Child(std::move(made));
}

constexpr std::uint64_t maxrss_unit = 1024;  // getrusage(2): in KiB

void Child::Running::reap() {
  end = end_of(pid, maxrss_unit);
  reap_orphans();
  if (!end) return;
  end->use.may_count_us = true;
  end->use.user_ns += orphans.user_ns;
  end->use.system_ns += orphans.system_ns;
  end->use.largest_orphan_bytes = orphans.largest_bytes;
}

// Returns whether one may be running. Leaves the command itself, whose end another call takes. A
// supervisor in the library is not among the children that an ordinary wait sees.
bool Child::Running::reap_orphans() {
  if (!is_adopting()) return false;
  for (;;) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno != ECHILD;
    if (info.si_pid == 0 || info.si_pid == pid) return true;
    const auto ended = end_of(info.si_pid, maxrss_unit);
    if (!ended || !ended->why_lost.empty()) return true;
    orphans.user_ns += ended->use.user_ns;
    orphans.system_ns += ended->use.system_ns;
    orphans.largest_bytes =
        std::max(orphans.largest_bytes.value_or(0), ended->use.largest_bytes.value_or(0));
  }
}

void Child::Running::wait_for_signal(Clock::time_point time) const {
  pollfd waiting{signals, POLLIN, 0};
  const auto left = left_until(std::min(time, Clock::now() + longest_wait));
  if (ppoll(&waiting, 1, &left, nullptr) >= 0 || errno == EINTR) return;
  const auto pause = left_until(std::min(time, Clock::now() + wait_without_poll));
  nanosleep(&pause, nullptr);
}

void Child::Running::take_signals() const {
  signalfd_siginfo arrived{};
  while (read(signals, &arrived, sizeof arrived) == sizeof arrived) {
    const auto signal = static_cast<int>(arrived.ssi_signo);
    if (signal != SIGCHLD && !is_of_terminal(arrived)) kill(pid, signal);
  }
}

bool Child::Running::look_until(Clock::time_point time) {
  while (!end) {
    wait_for_signal(time);
    take_signals();
    reap();
    if (!end && Clock::now() >= time) return false;
  }
  return true;
}

void Child::Running::look() noexcept {
  for (bool is_over = false; !is_over;) {
    try {
      is_over = look_until(Clock::now() + std::chrono::hours(24));
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
  const std::lock_guard lock(mutex);
  has_ended = true;
  changed.notify_all();
}

void Child::Running::start_to_look() {
  try {
    looks = std::thread([this] { look(); });
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

bool Child::wait_until(Clock::time_point time) {
  auto& in = *running_;
  if (!in.looks.joinable()) return in.look_until(time);
  std::unique_lock lock(in.mutex);
  return in.changed.wait_until(lock, time, [&in] { return in.has_ended; });
}

bool Child::has_orphans() {
  return running_->reap_orphans();
}
std::uint32_t Child::pid() const {
  return static_cast<std::uint32_t>(running_->pid);
}
const ProcessEnd& Child::end() const {
  return *running_->end;
}

}  // namespace hmn::cli
