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
  for (const int each : {SIGPIPE, SIGXFSZ})
    if (sigismember(&signals_changed(), each) == 1) std::signal(each, SIG_DFL);
}

std::vector<char*> argument_vector(const std::vector<std::string>& command) {
  std::vector<char*> made;
  for (const auto& word : command) made.push_back(const_cast<char*>(word.c_str()));
  made.push_back(nullptr);
  return made;
}

std::uint64_t ns_of(const timeval& time) {
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

std::string name_of_signal(int number) {
  for (const auto& each : named_signals)
    if (each.number == number) return each.name;
  return fmt::format("signal {}", number);
}

ProcessEnd ended(bool was_killed, int code) {
  ProcessEnd out;
  const int first = was_killed ? static_cast<int>(ExitCode::killed) : 0;
  out.status = static_cast<ExitCode>(first + code);
  if (was_killed) out.signal = name_of_signal(code);
  return out;
}

ResourceUse use_of(const rusage& usage, std::uint64_t maxrss_unit) {
  ResourceUse use;
  use.user_ns = ns_of(usage.ru_utime);
  use.system_ns = ns_of(usage.ru_stime);
  use.largest_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * maxrss_unit;
  use.counted = "of the command and what it waited for";
  return use;
}

// Time that a command has to end before it is killed, where the system cannot wait for it.
constexpr unsigned longest_end_us = 500'000;

// Waits without wait4, which a sandbox may forbid: the use of resources stays unknown.
std::optional<ProcessEnd> end_without_use(pid_t pid, int why_not) {
  siginfo_t info{};
  if (why_not != ECHILD && waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) == 0) {
    if (info.si_pid == 0) return std::nullopt;
    return ended(info.si_code != CLD_EXITED, info.si_status);
  }
  if (why_not != ECHILD) {
    // Not waited for, it keeps its pid.
    kill(pid, SIGTERM);
    usleep(longest_end_us);
    kill(pid, SIGKILL);
  }
  ProcessEnd lost;
  lost.why_lost = fmt::format("how the command ended is not known: {}", std::strerror(why_not));
  return lost;
}

// Starts what posix_spawn cannot: a command that ignores SIGCHLD, as hmn cannot while it waits, and
// a script without an interpreter, which execvp gives to the shell.
int fork_and_replace(char* const* arguments, const InheritedSignals& how, pid_t& pid) {
  int report[2];
  if (pipe(report) != 0) return errno;
  for (const int each : report) fcntl(each, F_SETFD, FD_CLOEXEC);
  pid = fork();
  int error = pid < 0 ? errno : 0;
  if (pid == 0) {
    if (how.ignores_children) std::signal(SIGCHLD, SIG_IGN);
    restore_signals();
    pthread_sigmask(SIG_SETMASK, &how.mask, nullptr);
    if (dup2(output_descriptor(), STDOUT_FILENO) >= 0) execvp(arguments[0], arguments);
    error = errno;
    _exit(write(report[1], &error, sizeof error) > 0 ? 1 : 0);
  }
  close(report[1]);
  // Empty once the command has taken the place of the copy of hmn.
  if (pid > 0 && read(report[0], &error, sizeof error) > 0) waitpid(pid, nullptr, 0);
  close(report[0]);
  return error;
}

int why_not_run(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// Searches as execvp(3) does; returns 0 or errno.
int why_not_found_in_path(const std::string& program) {
  const char* const folders = std::getenv("PATH");
  if (folders == nullptr) return 0;  // each C library has its own standard
  int why = ENOENT;
  for (std::string_view rest = folders;;) {
    const auto end = std::min(rest.find(':'), rest.size());
    const std::string folder(end == 0 ? "." : rest.substr(0, end));
    const int error = why_not_run(folder + "/" + program);
    if (error == 0) return 0;
    if (error == EACCES) why = error;
    if (end == rest.size()) return why;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<ProcessEnd> end_of(pid_t pid, std::uint64_t maxrss_unit) {
  int status = 0;
  rusage usage{};
  const pid_t got = wait4(pid, &status, WNOHANG, &usage);
  if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
  if (got < 0) return end_without_use(pid, errno);
  const bool was_killed = WIFSIGNALED(status);
  auto out = ended(was_killed, was_killed ? WTERMSIG(status) : WEXITSTATUS(status));
  out.use = use_of(usage, maxrss_unit);
  return out;
}

int spawn(const std::vector<std::string>& command, const InheritedSignals& how, pid_t& pid) {
  const auto arguments = argument_vector(command);
  if (how.ignores_children) return fork_and_replace(arguments.data(), how, pid);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &how.mask);
  posix_spawnattr_setsigdefault(&attributes, &signals_changed());
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  int error = posix_spawn_file_actions_adddup2(&files, output_descriptor(), STDOUT_FILENO);
  if (error == 0)
    error = posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error == ENOEXEC ? fork_and_replace(arguments.data(), how, pid) : error;
}

Failure refusal(const std::string& program, int error) {
  const auto code = error == ENOENT ? ExitCode::not_found : ExitCode::not_runnable;
  return {code, fmt::format("cannot run \"{}\": {}", program, std::strerror(error))};
}

std::optional<Failure> Child::why_not_found(const std::string& program) {
  const bool is_path = program.find('/') != std::string::npos;
  const int error = is_path ? why_not_run(program) : why_not_found_in_path(program);
  return error == 0 ? std::nullopt : std::optional(refusal(program, error));
}

Expected<ExitCode> Child::run_in_our_place(const std::vector<std::string>& command) {
  restore_signals();
  const auto arguments = argument_vector(command);
  if (dup2(output_descriptor(), STDOUT_FILENO) >= 0) execvp(arguments[0], arguments.data());
  return refusal(command.front(), errno);
}

}  // namespace hmn::cli
