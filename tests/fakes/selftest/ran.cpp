// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ran.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace selftest {
namespace {

using ClockType = std::chrono::steady_clock;

pid_t spawn(const std::string& program, const std::vector<std::string>& arguments, int out,
            int err) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& one : arguments) argv.push_back(const_cast<char*>(one.c_str()));
  argv.push_back(nullptr);
  char* environment[] = {nullptr};
  const pid_t child = fork();
  if (child != 0) return child;
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execve(program.c_str(), argv.data(), environment);
  _exit(127);
}

bool take(int fd, std::string& to, bool keep) {
  char buffer[65536];
  const auto got = read(fd, buffer, sizeof buffer);
  if (got > 0 && keep) to.append(buffer, static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

Ran run(const std::string& program, const std::vector<std::string>& arguments,
        std::chrono::milliseconds limit, bool keep) {
  Ran result;
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
  const pid_t child = spawn(program, arguments, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  const auto end = ClockType::now() + limit;
  pollfd open[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  while ((open[0].fd >= 0 || open[1].fd >= 0) && ClockType::now() < end) {
    if (poll(open, 2, 10) <= 0) continue;
    if (open[0].revents && !take(out[0], result.out, keep)) open[0].fd = -1;
    if (open[1].revents && !take(err[0], result.err, keep)) open[1].fd = -1;
  }
  if (ClockType::now() >= end) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  close(out[0]);
  close(err[0]);
  return result;
}

}  // namespace selftest
