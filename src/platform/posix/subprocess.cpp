// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/subprocess.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <span>

#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/subprocess.hpp"
#include "platform/system_override.hpp"
#include "platform/thread.hpp"

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

// Once the host has reaped the child, its number may belong to another process.
bool is_ours(pid_t child) noexcept {
  siginfo_t info;
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

class SpawnAttributes {
 public:
  SpawnAttributes() noexcept : error_(posix_spawnattr_init(&value_)) {
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    constexpr int flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    note(posix_spawnattr_setflags(&value_, static_cast<short>(flags | spawn_closing_flag())));
    note(posix_spawnattr_setsigdefault(&value_, &all));
    note(posix_spawnattr_setsigmask(&value_, &none));
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&value_); }
  int error() const noexcept { return error_; }
  const posix_spawnattr_t* get() const noexcept { return &value_; }

 private:
  void note(int error) noexcept { error_ = error_ != 0 ? error_ : error; }

  posix_spawnattr_t value_;
  int error_;
};

class SpawnActions {
 public:
  explicit SpawnActions(const Launch& what) noexcept
      : error_(posix_spawn_file_actions_init(&value_)) {
    note(posix_spawn_file_actions_adddup2(&value_, what.input, STDIN_FILENO));
    note(posix_spawn_file_actions_adddup2(&value_, what.output, STDOUT_FILENO));
    note(posix_spawn_file_actions_adddup2(&value_, what.errors, STDERR_FILENO));
    note(posix_spawn_file_actions_addchdir_np(&value_, "/"));
    note(add_spawn_closing(value_));
  }
  SpawnActions(const SpawnActions&) = delete;
  ~SpawnActions() { posix_spawn_file_actions_destroy(&value_); }
  int error() const noexcept { return error_; }
  const posix_spawn_file_actions_t* get() const noexcept { return &value_; }

 private:
  void note(int error) noexcept { error_ = error_ != 0 ? error_ : error; }

  posix_spawn_file_actions_t value_;
  int error_;
};

using Kind = Outcome::Kind;

constinit char search_path[] = "PATH=/usr/bin:/bin";
constinit char all_categories[] = "LC_ALL=C";
constinit char language[] = "LANG=C";
constinit char* const fixed_environment[] = {search_path, all_categories, language, nullptr};

// Moves a descriptor above the three that the child replaces: the host may have closed its own.
Descriptor above_standard(Descriptor low) {
  return Descriptor(fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

int open_channel(Channel& made) {
  int ends[2];
  if (const int error = open_pipe(ends)) return error;
  made.from_child = Descriptor(ends[0]);
  made.to_parent = above_standard(Descriptor(ends[1]));
  if (!made.to_parent) return errno;
  made.null_device = above_standard(Descriptor(open("/dev/null", O_RDWR | O_CLOEXEC)));
  return made.null_device ? 0 : errno;
}

bool is_well_formed(const Command& given) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  return given.path.starts_with('/') && !has_nul(given.path) &&
         std::ranges::none_of(given.arguments, has_nul);
}

std::vector<char*> argument_vector(const Command& given) {
  std::vector<char*> made;
  made.reserve(given.arguments.size() + 2);
  made.push_back(const_cast<char*>(given.path.c_str()));
  for (const std::string& argument : given.arguments) {
    made.push_back(const_cast<char*>(argument.c_str()));
  }
  made.push_back(nullptr);
  return made;
}

Outcome run_really(const Command& given) {
  const NoCancel guarded;
  collect_children();
  if (!is_well_formed(given)) return refused(Kind::not_runnable, EINVAL);
  if (monotonic_ns() >= given.deadline_ns) return refused(Kind::timed_out, 0);
  Channel open;
  if (const int error = open_channel(open)) return refused(Kind::not_runnable, error);
  const std::vector<char*> arguments = argument_vector(given);
  const Launch what{.path = given.path.c_str(),
                    .arguments = arguments.data(),
                    .environment = fixed_environment,
                    .input = open.null_device.get(),
                    .output = open.to_parent.get(),
                    .errors = (given.with_errors ? open.to_parent : open.null_device).get(),
                    .deadline_ns = given.deadline_ns};
  return run_child(what, open, given);
}

}  // namespace

StartResult SpawnedChild::start(const Launch& what) noexcept {
  // Check first: an emulator's fork loses the error of a later execve.
  if (faccessat(AT_FDCWD, what.path, X_OK, AT_EACCESS) != 0) return {Started::failed, errno};
  if (!is_executable_file(what.path)) return {Started::failed, EACCES};
  const SpawnAttributes attributes;
  const SpawnActions actions(what);
  int error = attributes.error() != 0 ? attributes.error() : actions.error();
  if (error == 0) {
    error = posix_spawn(&child_, what.path, actions.get(), attributes.get(), what.arguments,
                        what.environment);
  }
  if (error == 0) return {Started::running, 0};
  child_ = 0;
  return {Started::failed, error};
}

Ended SpawnedChild::wait(uint64_t deadline_ns, ExitStatus& status) noexcept {
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
      return Ended::exited;
    }
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return Ended::timed_out;
    sleep_ns(std::min(pause, deadline_ns - now));
    pause = std::min(2 * pause, 10 * ns_per_ms);
  }
}

SpawnedChild::~SpawnedChild() {
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

void SpawnedChild::collect() noexcept {
  for (std::atomic<pid_t>& slot : unfinished) {
    const pid_t child = slot.exchange(0);
    if (child != 0 && !is_gone(child)) remember(child);
  }
}

Outcome refused(Outcome::Kind what, int error) {
  Outcome result;
  result.what = what;
  result.error = error;
  return result;
}

Outcome failed_to_start(const Command& given, int error) {
  const bool absent = error == ENOTDIR || (error == ENOENT && !exists(given.path.c_str()));
  return refused(absent ? Kind::not_found : Kind::not_runnable, error);
}

namespace {

// Returns 0, ETIMEDOUT, ECANCELED or errno.
int await_output(int from, const Command& given) noexcept {
  if (given.is_cancelled == nullptr) return await_readable(from, given.deadline_ns);
  for (;;) {
    if (*given.is_cancelled) return ECANCELED;
    const uint64_t slice = std::min(given.deadline_ns, monotonic_ns() + cancel_check_ns);
    const int error = await_readable(from, slice);
    if (error != ETIMEDOUT || slice == given.deadline_ns) return error;
  }
}

}  // namespace

int collect_output(int from, const Command& given, std::string& output) {
  char chunk[16384];
  for (;;) {
    if (const int error = await_output(from, given)) return error;
    const size_t left = given.output_cap - output.size();
    const size_t wanted = left < sizeof chunk ? left + 1 : sizeof chunk;
    const ssize_t got = read(from, chunk, wanted);
    if (got == 0) return 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    output.append(chunk, std::min(static_cast<size_t>(got), left));
    if (static_cast<size_t>(got) > left) return EFBIG;
  }
}

Outcome::Kind kind_of_collecting(int error) noexcept {
  switch (error) {
    case 0:
      return Kind::finished;
    case EFBIG:
      return Kind::output_too_long;
    case ETIMEDOUT:
    case ECANCELED:
      return Kind::timed_out;
    default:
      return Kind::not_runnable;
  }
}

Outcome run(const Command& given) {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->run(given, run_really);
  return run_really(given);
}

}  // namespace hmn::platform
