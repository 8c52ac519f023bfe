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

void add_unfinished(pid_t child) noexcept {
  for (std::atomic<pid_t>& slot : unfinished) {
    pid_t empty = 0;
    if (slot.compare_exchange_strong(empty, child)) return;
  }
}

bool has_ended(pid_t child) noexcept {
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
    add_error(posix_spawnattr_setflags(&value_, static_cast<short>(flags | spawn_closing_flag())));
    add_error(posix_spawnattr_setsigdefault(&value_, &all));
    add_error(posix_spawnattr_setsigmask(&value_, &none));
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&value_); }
  int error() const noexcept { return error_; }
  const posix_spawnattr_t* get() const noexcept { return &value_; }

 private:
  void add_error(int error) noexcept { error_ = error_ != 0 ? error_ : error; }

  posix_spawnattr_t value_;
  int error_;
};

class SpawnActions {
 public:
  explicit SpawnActions(const Launch& launch) noexcept
      : error_(posix_spawn_file_actions_init(&value_)) {
    add_error(posix_spawn_file_actions_adddup2(&value_, launch.input, STDIN_FILENO));
    add_error(posix_spawn_file_actions_adddup2(&value_, launch.output, STDOUT_FILENO));
    add_error(posix_spawn_file_actions_adddup2(&value_, launch.errors, STDERR_FILENO));
    add_error(posix_spawn_file_actions_addchdir_np(&value_, "/"));
    add_error(add_spawn_closing(value_));
  }
  SpawnActions(const SpawnActions&) = delete;
  ~SpawnActions() { posix_spawn_file_actions_destroy(&value_); }
  int error() const noexcept { return error_; }
  const posix_spawn_file_actions_t* get() const noexcept { return &value_; }

 private:
  void add_error(int error) noexcept { error_ = error_ != 0 ? error_ : error; }

  posix_spawn_file_actions_t value_;
  int error_;
};

using Kind = Outcome::Kind;

constinit char search_path[] = "PATH=/usr/bin:/bin";
constinit char all_categories[] = "LC_ALL=C";
constinit char language[] = "LANG=C";
constinit char* const fixed_environment[] = {search_path, all_categories, language, nullptr};

// Moves a descriptor above the three that the child replaces: the host may have closed its own.
Descriptor move_above_standard(Descriptor source) {
  return Descriptor(fcntl(source.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

int open_channel(Channel& channel) {
  int ends[2];
  if (const int error = open_pipe(ends)) return error;
  channel.read_end = Descriptor(ends[0]);
  channel.write_end = move_above_standard(Descriptor(ends[1]));
  if (!channel.write_end) return errno;
  channel.null_device = move_above_standard(Descriptor(open("/dev/null", O_RDWR | O_CLOEXEC)));
  return channel.null_device ? 0 : errno;
}

bool is_well_formed(const Command& command) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  return command.path.starts_with('/') && !has_nul(command.path) &&
         std::ranges::none_of(command.arguments, has_nul);
}

std::vector<char*> make_arguments(const Command& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.arguments.size() + 2);
  arguments.push_back(const_cast<char*>(command.path.c_str()));
  for (const std::string& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  return arguments;
}

Outcome run_program(const Command& command) {
  const NoCancel no_cancel;
  reap_children();
  if (!is_well_formed(command)) return make_outcome(Kind::not_runnable, EINVAL);
  if (monotonic_ns() >= command.deadline_ns) return make_outcome(Kind::timed_out, 0);
  Channel channel;
  if (const int error = open_channel(channel)) return make_outcome(Kind::not_runnable, error);
  const std::vector<char*> arguments = make_arguments(command);
  const Launch launch{
      .path = command.path.c_str(),
      .arguments = arguments.data(),
      .environment = fixed_environment,
      .input = channel.null_device.get(),
      .output = channel.write_end.get(),
      .errors = (command.include_stderr ? channel.write_end : channel.null_device).get(),
      .deadline_ns = command.deadline_ns};
  return run_child(launch, channel, command);
}

}  // namespace

StartResult SpawnedChild::start(const Launch& launch) noexcept {
  // Check first: an emulator's fork loses the error of a later execve.
  if (faccessat(AT_FDCWD, launch.path, X_OK, AT_EACCESS) != 0) return {StartState::failed, errno};
  if (!is_executable_file(launch.path)) return {StartState::failed, EACCES};
  const SpawnAttributes attributes;
  const SpawnActions actions(launch);
  int error = attributes.error() != 0 ? attributes.error() : actions.error();
  if (error == 0) {
    error = posix_spawn(&child_, launch.path, actions.get(), attributes.get(), launch.arguments,
                        launch.environment);
  }
  if (error == 0) return {StartState::running, 0};
  child_ = 0;
  return {StartState::failed, error};
}

WaitResult SpawnedChild::wait(uint64_t deadline_ns, ExitStatus& status) noexcept {
  uint64_t pause = ns_per_ms / 4;
  for (;;) {
    int raw_status = 0;
    const pid_t pid = waitpid(child_, &raw_status, WNOHANG);
    if (pid != 0) {
      if (pid == child_) {
        status = {true, WIFEXITED(raw_status) ? WEXITSTATUS(raw_status) : 0,
                  WIFSIGNALED(raw_status) ? WTERMSIG(raw_status) : 0};
      }
      child_ = 0;
      return WaitResult::exited;
    }
    const uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return WaitResult::timed_out;
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
    if (has_ended(child_)) return;
    sleep_ns(ns_per_ms / 10);
  }
  add_unfinished(child_);
}

void SpawnedChild::reap() noexcept {
  for (std::atomic<pid_t>& slot : unfinished) {
    const pid_t child = slot.exchange(0);
    if (child != 0 && !has_ended(child)) add_unfinished(child);
  }
}

Outcome make_outcome(Outcome::Kind kind, int error) {
  Outcome result;
  result.kind = kind;
  result.error = error;
  return result;
}

Outcome make_start_failure(const Command& command, int error) {
  const bool is_absent = error == ENOTDIR || (error == ENOENT && !exists(command.path.c_str()));
  return make_outcome(is_absent ? Kind::not_found : Kind::not_runnable, error);
}

namespace {

// Returns 0, ETIMEDOUT, ECANCELED or errno.
int await_output(int descriptor, const Command& command) noexcept {
  if (command.is_cancelled == nullptr) return await_readable(descriptor, command.deadline_ns);
  for (;;) {
    if (*command.is_cancelled) return ECANCELED;
    const uint64_t slice = std::min(command.deadline_ns, monotonic_ns() + cancel_check_ns);
    const int error = await_readable(descriptor, slice);
    if (error != ETIMEDOUT || slice == command.deadline_ns) return error;
  }
}

}  // namespace

int collect_output(int descriptor, const Command& command, std::string& output) {
  char chunk[16384];
  for (;;) {
    if (const int error = await_output(descriptor, command)) return error;
    const size_t left = command.output_cap - output.size();
    const size_t size = left < sizeof chunk ? left + 1 : sizeof chunk;
    const ssize_t count = read(descriptor, chunk, size);
    if (count == 0) return 0;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    output.append(chunk, std::min(static_cast<size_t>(count), left));
    if (static_cast<size_t>(count) > left) return EFBIG;
  }
}

Outcome::Kind classify_error(int error) noexcept {
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

Outcome run(const Command& command) {
  if (SystemOverride* const active = SystemOverride::active())
    return active->run(command, run_program);
  return run_program(command);
}

}  // namespace hmn::platform
