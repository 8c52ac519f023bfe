// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/posix/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/system/streams.hpp"

extern "C" char** environ;

namespace hmn::cli {
namespace {

void restore_signals() noexcept {
  for (const int signal : {SIGPIPE, SIGXFSZ})
    if (sigismember(&restorable_signals(), signal) == 1) std::signal(signal, SIG_DFL);
}

std::vector<char*> make_argument_vector(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

std::uint64_t to_ns(const timeval& time) {
  constexpr std::uint64_t ns_per_s = 1'000'000'000;
  return static_cast<std::uint64_t>(time.tv_sec) * ns_per_s +
         static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

struct NamedSignal {
  int number;
  const char* name;
};
// Names of signals that may end a process, on Linux and macOS; sigabbrev_np(3) needs glibc 2.32.
constexpr NamedSignal named_signals[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},       {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},     {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},     {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},     {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGSYS, "SIGSYS"}};

std::string format_signal(int number) {
  for (const auto& signal : named_signals)
    if (signal.number == number) return signal.name;
  return fmt::format("signal {}", number);
}

ProcessEnd make_end(bool was_killed, int code) {
  ProcessEnd end;
  const int base = was_killed ? static_cast<int>(ExitCode::killed) : 0;
  end.status = static_cast<ExitCode>(base + code);
  if (was_killed) end.signal = format_signal(code);
  return end;
}

ResourceUse make_resource_use(const rusage& usage, std::uint64_t maxrss_unit) {
  ResourceUse use;
  use.user_ns = to_ns(usage.ru_utime);
  use.system_ns = to_ns(usage.ru_stime);
  use.largest_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * maxrss_unit;
  use.scope = "of the command and what it waited for";
  return use;
}

// Time that a command has to end before it is killed, where the system cannot wait for it.
constexpr unsigned longest_end_us = 500'000;

// Waits without wait4, which a sandbox may forbid: the use of resources stays unknown.
std::optional<ProcessEnd> reap_without_use(pid_t pid, int error) {
  siginfo_t info{};
  if (error != ECHILD && waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) == 0) {
    if (info.si_pid == 0) return std::nullopt;
    return make_end(info.si_code != CLD_EXITED, info.si_status);
  }
  if (error != ECHILD) {
    // Until it is waited for, it keeps its pid.
    kill(pid, SIGTERM);
    usleep(longest_end_us);
    kill(pid, SIGKILL);
  }
  ProcessEnd end;
  end.lost_reason = fmt::format("how the command ended is not known: {}", std::strerror(error));
  return end;
}

// Starts what posix_spawn cannot: a command that ignores SIGCHLD, as hmn cannot while it waits, and
// a script without an interpreter, which execvp gives to the shell.
int fork_and_exec(char* const* arguments, const InheritedSignals& signals, pid_t& pid) {
  int report[2];
  if (pipe(report) != 0) return errno;
  for (const int descriptor : report) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  pid = fork();
  int error = pid < 0 ? errno : 0;
  if (pid == 0) {
    if (signals.ignores_children) std::signal(SIGCHLD, SIG_IGN);
    restore_signals();
    pthread_sigmask(SIG_SETMASK, &signals.mask, nullptr);
    if (dup2(output_descriptor(), STDOUT_FILENO) >= 0) execvp(arguments[0], arguments);
    error = errno;
    _exit(write(report[1], &error, sizeof error) > 0 ? 1 : 0);
  }
  close(report[1]);
  // Empty once the command has replaced the copy of hmn.
  if (pid > 0 && read(report[0], &error, sizeof error) > 0) waitpid(pid, nullptr, 0);
  close(report[0]);
  return error;
}

int check_executable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// Searches as execvp(3) does; returns 0 or errno.
int search_path(const std::string& program) {
  const char* const folders = std::getenv("PATH");
  if (folders == nullptr) return 0;  // each C library has its own standard
  int result = ENOENT;
  for (std::string_view rest = folders;;) {
    const auto end = std::min(rest.find(':'), rest.size());
    const std::string folder(end == 0 ? "." : rest.substr(0, end));
    const int error = check_executable(folder + "/" + program);
    if (error == 0) return 0;
    if (error == EACCES) result = error;
    if (end == rest.size()) return result;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<ProcessEnd> reap_child(pid_t pid, std::uint64_t maxrss_unit) {
  int status = 0;
  rusage usage{};
  const pid_t ended_pid = wait4(pid, &status, WNOHANG, &usage);
  if (ended_pid == 0 || (ended_pid < 0 && errno == EINTR)) return std::nullopt;
  if (ended_pid < 0) return reap_without_use(pid, errno);
  const bool was_killed = WIFSIGNALED(status);
  auto end = make_end(was_killed, was_killed ? WTERMSIG(status) : WEXITSTATUS(status));
  end.use = make_resource_use(usage, maxrss_unit);
  return end;
}

int spawn(const std::vector<std::string>& command, const InheritedSignals& signals, pid_t& pid) {
  const auto arguments = make_argument_vector(command);
  if (signals.ignores_children) return fork_and_exec(arguments.data(), signals, pid);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals.mask);
  posix_spawnattr_setsigdefault(&attributes, &restorable_signals());
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  int error = posix_spawn_file_actions_adddup2(&files, output_descriptor(), STDOUT_FILENO);
  if (error == 0)
    error = posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error == ENOEXEC ? fork_and_exec(arguments.data(), signals, pid) : error;
}

Failure start_error(const std::string& program, int error) {
  const auto code = error == ENOENT ? ExitCode::not_found : ExitCode::not_runnable;
  return {code, fmt::format("cannot run \"{}\": {}", program, std::strerror(error))};
}

std::optional<Failure> Child::check_program(const std::string& program) {
  const bool is_path = program.find('/') != std::string::npos;
  const int error = is_path ? check_executable(program) : search_path(program);
  return error == 0 ? std::nullopt : std::optional(start_error(program, error));
}

Expected<ExitCode> Child::exec_command(const std::vector<std::string>& command) {
  restore_signals();
  const auto arguments = make_argument_vector(command);
  if (dup2(output_descriptor(), STDOUT_FILENO) >= 0) execvp(arguments[0], arguments.data());
  return start_error(command.front(), errno);
}

}  // namespace hmn::cli
