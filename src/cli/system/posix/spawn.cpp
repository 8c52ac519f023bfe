// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/posix/spawn.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

extern "C" char** environ;

namespace hmn::cli {
namespace {

// Returns the signals that hmn changed for itself.
sigset_t restored() noexcept {
  sigset_t set;
  sigemptyset(&set);
  if (!pipe_signal_was_ignored()) sigaddset(&set, SIGPIPE);
  return set;
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

struct named_signal {
  int number;
  const char* name;
};
// Names of signals that may end a process, on Linux and macOS; sigabbrev_np(3) needs glibc 2.32.
constexpr named_signal named_signals[] = {
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

process_end ended(bool was_killed, int code) {
  process_end out;
  const int first = was_killed ? static_cast<int>(exit_code::killed) : 0;
  out.status = static_cast<exit_code>(first + code);
  if (was_killed) out.signal = name_of_signal(code);
  return out;
}

resource_use use_of(const rusage& usage, std::uint64_t maxrss_unit) {
  resource_use use;
  use.user_ns = ns_of(usage.ru_utime);
  use.system_ns = ns_of(usage.ru_stime);
  use.largest_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * maxrss_unit;
  use.counted = "of the command and what it waited for";
  return use;
}

// Waits without wait4, which a sandbox may forbid: the use of resources stays unknown.
std::optional<process_end> end_without_use(pid_t pid, int why_not) {
  siginfo_t info{};
  if (why_not != ECHILD && waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) == 0) {
    if (info.si_pid == 0) return std::nullopt;
    return ended(info.si_code != CLD_EXITED, info.si_status);
  }
  if (why_not != ECHILD) kill(pid, SIGTERM);
  process_end lost;
  lost.why_lost = fmt::format("how the command ended is not known: {}", std::strerror(why_not));
  return lost;
}

}  // namespace

std::optional<process_end> end_of(pid_t pid, std::uint64_t maxrss_unit) {
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

int spawn(const std::vector<std::string>& command, const sigset_t& mask, pid_t& pid) {
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  const auto defaults = restored();
  posix_spawnattr_setsigmask(&how, &mask);
  posix_spawnattr_setsigdefault(&how, &defaults);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const auto arguments = argument_vector(command);
  const int error = posix_spawnp(&pid, arguments[0], nullptr, &how, arguments.data(), environ);
  posix_spawnattr_destroy(&how);
  return error;
}

failure refusal(const std::string& program, int error) {
  const auto code = error == ENOENT ? exit_code::not_found : exit_code::not_runnable;
  return {code, fmt::format("cannot run \"{}\": {}", program, std::strerror(error))};
}

expected<exit_code> child::run_in_our_place(const std::vector<std::string>& command) {
  if (!pipe_signal_was_ignored()) std::signal(SIGPIPE, SIG_DFL);
  const auto arguments = argument_vector(command);
  execvp(arguments[0], arguments.data());
  return refusal(command.front(), errno);
}

}  // namespace hmn::cli
