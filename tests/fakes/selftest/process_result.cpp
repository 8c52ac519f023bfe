// SPDX-License-Identifier: MIT OR Apache-2.0
#include "process_result.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace selftest {
namespace {

using Clock = std::chrono::steady_clock;

pid_t spawn(const std::string& program, const std::vector<std::string>& arguments, int out,
            int err) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  char* environment[] = {nullptr};
  const pid_t child = fork();
  if (child != 0) return child;
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execve(program.c_str(), argv.data(), environment);
  _exit(127);
}

bool read_some(int fd, std::string& text, bool keep) {
  char buffer[65536];
  const auto length = read(fd, buffer, sizeof buffer);
  if (length > 0 && keep) text.append(buffer, static_cast<std::size_t>(length));
  return length > 0;
}

}  // namespace

ProcessResult run(const std::string& program, const std::vector<std::string>& arguments,
                  std::chrono::milliseconds limit, bool keep) {
  ProcessResult result;
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
  const pid_t child = spawn(program, arguments, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  const auto deadline = Clock::now() + limit;
  pollfd polls[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  while ((polls[0].fd >= 0 || polls[1].fd >= 0) && Clock::now() < deadline) {
    if (poll(polls, 2, 10) <= 0) continue;
    if (polls[0].revents && !read_some(out[0], result.out, keep)) polls[0].fd = -1;
    if (polls[1].revents && !read_some(err[0], result.err, keep)) polls[1].fd = -1;
  }
  if (Clock::now() >= deadline) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  close(out[0]);
  close(err[0]);
  return result;
}

}  // namespace selftest
