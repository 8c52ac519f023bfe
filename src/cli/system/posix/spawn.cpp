// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/posix/spawn.hpp"

#include <fmt/format.h>
#include <spawn.h>
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

}  // namespace

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
  return {code, fmt::format("failed to spawn \"{}\": {}", program, std::strerror(error))};
}

exit_code code_of(int status) noexcept {
  if (!WIFSIGNALED(status)) return static_cast<exit_code>(WEXITSTATUS(status));
  return static_cast<exit_code>(static_cast<int>(exit_code::killed) + WTERMSIG(status));
}

std::string signal_of(int status) {
  if (!WIFSIGNALED(status)) return {};
  for (const auto& each : named_signals)
    if (each.number == WTERMSIG(status)) return each.name;
  return fmt::format("signal {}", WTERMSIG(status));
}

resource_use use_of(const rusage& usage) {
  resource_use use;
  use.user_ns = ns_of(usage.ru_utime);
  use.system_ns = ns_of(usage.ru_stime);
  use.counted = "of the command and what it waited for";
  return use;
}

expected<exit_code> child::run_in_our_place(const std::vector<std::string>& command) {
  if (!pipe_signal_was_ignored()) std::signal(SIGPIPE, SIG_DFL);
  const auto arguments = argument_vector(command);
  execvp(arguments[0], arguments.data());
  return refusal(command.front(), errno);
}

bool child::wait() {
  while (!wait_until(clock::now() + std::chrono::hours(24))) continue;
  return true;
}

}  // namespace hmn::cli
