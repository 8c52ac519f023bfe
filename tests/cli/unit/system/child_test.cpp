// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/child.hpp"

#include <doctest/doctest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <thread>

#include "cli/system/streams.hpp"

using hmn::cli::Child;
using hmn::cli::ExitCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using CommandWords = std::vector<std::string>;

Child start_child(const CommandWords& command) {
  auto child = Child::start(command);
  REQUIRE(child);
  return *std::move(child);
}

int run_command(const CommandWords& command) {
  auto child = start_child(command);
  child.wait();
  return static_cast<int>(child.end().status);
}

// Returns whether a line of the command's own /proc/self/status matches.
bool has_line(const char* pattern) {
  return run_command({"grep", "-q", pattern, "/proc/self/status"}) == 0;
}

int code_after_signal(int signal) {
  auto child = start_child({"sleep", "60"});
  kill(getpid(), signal);
  CHECK(child.wait_until(Child::Clock::now() + seconds(30)));
  return static_cast<int>(child.end().status);
}

bool wait_for_output(int terminal, std::string_view text) {
  std::string output;
  char byte = 0;
  while (output.find(text) == output.npos && read(terminal, &byte, 1) == 1) output += byte;
  return output.find(text) != output.npos;
}

sigset_t blocked_signals() {
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  return set;
}

}  // namespace

TEST_CASE("a command's exit code is its own, or 128 plus the signal that ended it") {
  CHECK(run_command({"true"}) == 0);
  CHECK(run_command({"sh", "-c", "exit 7"}) == 7);
  CHECK(run_command({"sh", "-c", "exit 255"}) == 255);
  CHECK(run_command({"sh", "-c", "kill -KILL $$"}) == 128 + SIGKILL);
}

TEST_CASE("a command that cannot be started gives the reason and leaves signals unchanged") {
  const auto absent = Child::start({"/nonexistent/program"});
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == ExitCode::not_found);
  CHECK(absent.error().message == "cannot run \"/nonexistent/program\": No such file or directory");
  const auto unlisted = Child::start({"no-program-of-this-name"});
  REQUIRE_FALSE(unlisted);
  CHECK(unlisted.error().code == ExitCode::not_found);
  const auto unrunnable = Child::start({"/etc/passwd"});
  REQUIRE_FALSE(unrunnable);
  CHECK(unrunnable.error().code == ExitCode::not_runnable);
  CHECK(unrunnable.error().message == "cannot run \"/etc/passwd\": Permission denied");
  const auto set = blocked_signals();
  CHECK_FALSE(sigismember(&set, SIGTERM));
}

TEST_CASE("a wait ends at its deadline, or at once when the command ends") {
  auto child = start_child({"sleep", "3600"});
  const auto start = Child::Clock::now();
  CHECK_FALSE(child.wait_until(start + milliseconds(20)));
  CHECK(Child::Clock::now() - start >= milliseconds(20));
  CHECK_FALSE(child.wait_until(start));
  kill(static_cast<pid_t>(child.pid()), SIGKILL);
  CHECK(child.wait_until(start + seconds(600)));
  CHECK(Child::Clock::now() - start < seconds(300));
  CHECK(child.wait_until(start));
  CHECK(child.end().use.largest_bytes.value_or(0) > 0);
}

TEST_CASE("the signal that ended a command is named") {
  const auto ending_signal = [](const char* script) {
    auto child = start_child({"sh", "-c", script});
    child.wait();
    return child.end().signal;
  };
  CHECK(ending_signal("kill -KILL $$") == "SIGKILL");
  CHECK(ending_signal("kill -ALRM $$") == "SIGALRM");
  CHECK(ending_signal("exit 137").empty());
  CHECK(ending_signal("true").empty());
}

TEST_CASE("signals sent by a process are forwarded to the command") {
  CHECK(code_after_signal(SIGTERM) == 128 + SIGTERM);
  CHECK(code_after_signal(SIGHUP) == 128 + SIGHUP);
  CHECK(code_after_signal(SIGINT) == 128 + SIGINT);
  CHECK(code_after_signal(SIGQUIT) == 128 + SIGQUIT);
  CHECK(code_after_signal(SIGUSR1) == 128 + SIGUSR1);  // a batch system's warning
  CHECK(code_after_signal(SIGUSR2) == 128 + SIGUSR2);
  CHECK(code_after_signal(SIGXCPU) == 128 + SIGXCPU);
  CHECK(code_after_signal(SIGVTALRM) == 128 + SIGVTALRM);
  CHECK(code_after_signal(SIGPROF) == 128 + SIGPROF);
}

TEST_CASE("a signal is forwarded and the end recorded while nobody waits") {
  auto child = start_child({"sleep", "60"});
  const auto start = Child::Clock::now();
  kill(getpid(), SIGTERM);
  std::this_thread::sleep_for(seconds(2));
  CHECK(child.wait_until(Child::Clock::now()));
  CHECK(child.end().time - start < milliseconds(1500));
}

TEST_CASE("a signal that hmn ignored from the start stays ignored in hmn and the command") {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  auto child = start_child({"sleep", "60"});
  kill(getpid(), SIGHUP);
  CHECK_FALSE(child.wait_until(Child::Clock::now() + milliseconds(100)));
  kill(getpid(), SIGTERM);
  child.wait();
  CHECK(static_cast<int>(child.end().status) == 128 + SIGTERM);
  CHECK(has_line("^SigIgn:.*[13579bdf]$"));
  std::signal(SIGHUP, before);
}

TEST_CASE("a command inherits the signal state that hmn started with") {
  const auto pipe_before = std::signal(SIGPIPE, SIG_DFL);
  const auto size_before = std::signal(SIGXFSZ, SIG_DFL);
  hmn::cli::prepare_streams();
  CHECK(has_line("^SigBlk:.0*$"));
  CHECK(has_line("^SigIgn:.*[02468ace]..[02468ace]...$"));
  hmn::cli::prepare_streams();  // they were ignored already
  CHECK(has_line("^SigIgn:.*[13579bdf]..[13579bdf]...$"));
  std::signal(SIGPIPE, pipe_before);
  std::signal(SIGXFSZ, size_before);
  const auto set = blocked_signals();
  CHECK_FALSE(sigismember(&set, SIGINT));
}

TEST_CASE("a command inherits an ignored SIGCHLD, and its exit code is still known") {
  const auto before = std::signal(SIGCHLD, SIG_DFL);
  CHECK(has_line("^SigIgn:.*[02468ace]....$"));
  std::signal(SIGCHLD, SIG_IGN);
  CHECK(has_line("^SigIgn:.*[13579bdf]....$"));
  std::signal(SIGCHLD, SIG_IGN);
  CHECK(run_command({"sh", "-c", "exit 7"}) == 7);
  std::signal(SIGCHLD, SIG_IGN);
  const auto absent = Child::start({"/nonexistent/program"});
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == ExitCode::not_found);
  std::signal(SIGCHLD, before);
}

TEST_CASE("an end is seen although all signals are blocked, and the command inherits the mask") {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  {
    auto child = start_child({"grep", "-q", "^SigBlk:.*[13579bdf]$", "/proc/self/status"});
    CHECK(child.wait_until(Child::Clock::now() + seconds(30)));
    CHECK(child.end().status == ExitCode::done);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The command has left the terminal's process group: only hmn could send it Ctrl+C.
TEST_CASE("signals from the terminal are not forwarded") {
  const std::string command =
      "got=7; trap 'got=9' INT; trap 'exit $got' TERM; echo ready; while :; do sleep 0.05; done";
  int terminal = -1;
  const pid_t hmn_pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  REQUIRE(hmn_pid >= 0);
  if (hmn_pid == 0) {
    hmn::cli::prepare_streams();  // the output is the terminal
    auto child = Child::start({"setsid", "sh", "-c", command});
    if (child) child->wait();
    _exit(child ? static_cast<int>(child->end().status) : 1);
  }
  CHECK(wait_for_output(terminal, "ready"));
  CHECK(write(terminal, "\x03", 1) == 1);
  CHECK(wait_for_output(terminal, "^C"));
  usleep(200'000);  // on a slower machine the test would miss what it looks for, and pass
  kill(hmn_pid, SIGTERM);
  int status = 0;
  CHECK(waitpid(hmn_pid, &status, 0) == hmn_pid);
  close(terminal);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}
