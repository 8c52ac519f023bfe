// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
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
#include "cli/system/file.hpp"
#include "cli/system/posix/spawn.hpp"
#include "procfs/cgroup.hpp"
#include "procfs/tree.hpp"

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

timespec left_until(child::clock::time_point time) {
  using std::chrono::nanoseconds;
  const auto now = child::clock::now();
  const auto left = time > now ? nanoseconds(time - now).count() : 0;
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

bool has_word(std::string_view text, std::string_view wanted) {
  for (std::size_t at = 0; (at = text.find(wanted, at)) != std::string_view::npos; ++at) {
    const auto end = at + wanted.size();
    const bool begins = at == 0 || text[at - 1] == ' ';
    if (begins && (end == text.size() || text[end] == ' ' || text[end] == '\n')) return true;
  }
  return false;
}

bool gives_memory(const std::string& folder) {
  return has_word(read_text_file(folder + "/cgroup.subtree_control").value_or(""), "memory");
}

// Returns whether the group has limits, which would not apply to the command in a sibling group.
bool has_limits(const std::string& folder) {
  for (const char* file : {"memory.max", "memory.high", "memory.swap.max", "pids.max"})
    if (!read_text_file(folder + "/" + file).value_or("max").starts_with("max")) return true;
  return !read_text_file(folder + "/cpu.max").value_or("max").starts_with("max");
}

// Returns whether it is a session's or a terminal's group in systemd's naming; the processes of a
// service must stay in its group, by which it is stopped.
bool is_scope(const std::string& folder) {
  return folder.ends_with(".scope");
}

std::string parent_of(const std::string& folder) {
  return folder.substr(0, folder.rfind('/'));
}

// Returns the location of the new group. A group with processes cannot delegate controllers to
// child groups, unless it is the root (cgroup v2, "no internal process"): then it is a sibling.
expected<std::string> place_near(const std::string& home, const std::string& mount) {
  if (gives_memory(home)) return home;
  const auto sibling = parent_of(home);
  if (home == mount || sibling.size() < mount.size() || !gives_memory(sibling))
    return failed(
        "the control group that hmn is in, and the one above it, give no memory controller to "
        "others");
  if (!is_scope(home))
    return failed(fmt::format("hmn is in \"{}\", which is no session of a user", home));
  if (has_limits(home))
    return failed(fmt::format("\"{}\" has limits that the command would escape", home));
  return sibling;
}

bool write_file(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return done;
}

bool move_to(const std::string& folder, std::uint32_t pid) {
  return write_file(folder + "/cgroup.procs", fmt::format("{}\n", pid));
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  return procfs::parse_cgroup_usage(read_text_file(path).value_or(""));
}

failure refusal(const std::string& path) {
  return failed(fmt::format("\"{}\": {}", path, std::strerror(errno)));
}

}  // namespace

struct child::running {
  running() = default;
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running();
  void wait_for_signal(clock::time_point time) const;
  void take_signals() const;
  void reap();
  bool look_until(clock::time_point time);
  void look() noexcept;
  void start_to_look();

  inherited_signals before;
  int signals = -1;
  pid_t pid = -1;
  std::optional<process_end> end;
  // Looks for signals and for the end while hmn waits for a driver. None: wait_until() does.
  std::thread looks;
  std::mutex mutex;
  std::condition_variable changed;
  bool has_ended = false;  // `looks` sets it
};

child::running::~running() {
  if (looks.joinable()) looks.join();
  if (signals < 0) return;
  close(signals);
  pthread_sigmask(SIG_SETMASK, &before.mask, nullptr);
}

child::child(std::unique_ptr<running> started) : running_(std::move(started)) {}
child::child(child&& other) noexcept = default;
child::~child() {
  outlast();
}

expected<child> child::start(const std::vector<std::string>& command) {
  auto made = std::make_unique<running>();
  const auto set = awaited();
  made->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (made->signals < 0)
    return failure{exit_code::wrapper_failed,
                   fmt::format("cannot watch for signals: {}", std::strerror(errno))};
  // Ignored, it would discard the exit status.
  made->before.ignores_children = std::signal(SIGCHLD, SIG_DFL) == SIG_IGN;
  pthread_sigmask(SIG_BLOCK, &set, &made->before.mask);
  if (const int error = spawn(command, made->before, made->pid))
    return refusal(command.front(), error);
  made->start_to_look();
  return child(std::move(made));
}

void child::running::reap() {
  end = end_of(pid, 1024);  // getrusage(2): in KiB
  if (end) end->use.may_count_us = true;
}

void child::running::wait_for_signal(clock::time_point time) const {
  pollfd waiting{signals, POLLIN, 0};
  const auto left = left_until(std::min(time, clock::now() + longest_wait));
  if (ppoll(&waiting, 1, &left, nullptr) >= 0 || errno == EINTR) return;
  const auto pause = left_until(std::min(time, clock::now() + wait_without_poll));
  nanosleep(&pause, nullptr);
}

void child::running::take_signals() const {
  signalfd_siginfo arrived{};
  while (read(signals, &arrived, sizeof arrived) == sizeof arrived) {
    const auto signal = static_cast<int>(arrived.ssi_signo);
    if (signal != SIGCHLD && !is_of_terminal(arrived)) kill(pid, signal);
  }
}

bool child::running::look_until(clock::time_point time) {
  while (!end) {
    wait_for_signal(time);
    take_signals();
    reap();
    if (!end && clock::now() >= time) return false;
  }
  return true;
}

void child::running::look() noexcept {
  for (bool is_over = false; !is_over;) {
    try {
      is_over = look_until(clock::now() + std::chrono::hours(24));
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
  const std::lock_guard lock(mutex);
  has_ended = true;
  changed.notify_all();
}

void child::running::start_to_look() {
  try {
    looks = std::thread([this] { look(); });
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

bool child::wait_until(clock::time_point time) {
  auto& in = *running_;
  if (!in.looks.joinable()) return in.look_until(time);
  std::unique_lock lock(in.mutex);
  return in.changed.wait_until(lock, time, [&in] { return in.has_ended; });
}

std::uint32_t child::pid() const {
  return static_cast<std::uint32_t>(running_->pid);
}
const process_end& child::end() const {
  return *running_->end;
}

struct command_group::state {
  state(std::string made, std::string of_hmn) : folder(std::move(made)), home(std::move(of_hmn)) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state();
  std::vector<std::uint32_t> processes() const;

  std::string folder;
  std::string home;  // group of hmn
};

std::vector<std::uint32_t> command_group::state::processes() const {
  return procfs::parse_pids(read_text_file(folder + "/cgroup.procs").value_or(""));
}

// Moves remaining processes back to the group of hmn. Without memory for their list they stay, and
// the group with them.
command_group::state::~state() {
  try {
    for (const auto pid : processes()) move_to(home, pid);
  } catch (const std::bad_alloc&) {
  }
  rmdir(folder.c_str());
}

const command_group::kind& command_group::what() {
  static constexpr kind is{"control group", "control_group",
                           "exact, with page cache and kernel memory"};
  return is;
}

// Makes a child or a sibling of hmn's group.
expected<command_group> command_group::make(const roots& in) {
  const auto groups = read_text_file(in.proc + "/self/cgroup").value_or("");
  const std::string path(procfs::parse_v2_membership(groups).path);
  const auto mount =
      in.cgroup.empty()
          ? procfs::find_cgroup_v2_mount(read_text_file(in.proc + "/self/mountinfo").value_or(""))
          : std::optional(in.cgroup);
  if (path.empty() || !mount) return failed("control groups of version 2 are not mounted");
  if (path.find("/..") != std::string::npos) return failed("hmn's control group is not visible");
  const auto home = path == "/" ? *mount : *mount + path;
  const auto above = place_near(home, *mount);
  if (!above) return above.why();
  for (const auto& each : {*above, home})
    if (access((each + "/cgroup.procs").c_str(), W_OK) != 0) return refusal(each + "/cgroup.procs");
  const auto folder = fmt::format("{}/hmn-run-{}", *above, getpid());
  if (mkdir(folder.c_str(), 0755) != 0) return refusal(folder);
  command_group made(std::make_unique<state>(folder, home));
  if (!made.peak_bytes()) return failed("the kernel keeps no memory.peak (Linux 5.19)");
  return made;
}

command_group::command_group(std::unique_ptr<state> made) : state_(std::move(made)) {}
command_group::command_group(command_group&& other) noexcept = default;
command_group::~command_group() = default;

// Moves hmn itself in and out, so that the command is created inside.
expected<child> command_group::start(const std::vector<std::string>& command,
                                     std::string& why_outside) const {
  const auto own = static_cast<std::uint32_t>(getpid());
  if (!move_to(state_->folder, own)) {
    why_outside = fmt::format("hmn may not enter it: {}", std::strerror(errno));
    return child::start(command);
  }
  auto started = child::start(command);
  move_to(state_->home, own);
  return started;
}

// Reads memory.peak, Linux 5.19: everything charged to the group, including page cache and kernel
// memory.
std::optional<std::uint64_t> command_group::peak_bytes() const {
  return number_in(state_->folder + "/memory.peak");
}

std::optional<std::uint64_t> command_group::current_bytes() const {
  return number_in(state_->folder + "/memory.current");
}

std::vector<std::uint32_t> command_group::processes() const {
  return state_->processes();
}

}  // namespace hmn::cli
