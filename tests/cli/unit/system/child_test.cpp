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

using Words = std::vector<std::string>;

Child started(const Words& command) {
  auto made = Child::start(command);
  REQUIRE(made);
  return *std::move(made);
}

int code_of(const Words& command) {
  auto running = started(command);
  running.wait();
  return static_cast<int>(running.end().status);
}

// Of the signals' line of /proc/self/status, as the command itself has it.
bool has_line(const char* pattern) {
  return code_of({"grep", "-q", pattern, "/proc/self/status"}) == 0;
}

int code_when_sent(int signal) {
  auto running = started({"sleep", "60"});
  kill(getpid(), signal);
  CHECK(running.wait_until(Child::Clock::now() + seconds(30)));
  return static_cast<int>(running.end().status);
}

bool says(int terminal, std::string_view expected) {
  std::string said;
  char one = 0;
  while (said.find(expected) == said.npos && read(terminal, &one, 1) == 1) said += one;
  return said.find(expected) != said.npos;
}

sigset_t blocked() {
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  return set;
}

}  // namespace

TEST_CASE("a command's exit code is its own, or 128 and the signal that ended it") {
  CHECK(code_of({"true"}) == 0);
  CHECK(code_of({"sh", "-c", "exit 7"}) == 7);
  CHECK(code_of({"sh", "-c", "exit 255"}) == 255);
  CHECK(code_of({"sh", "-c", "kill -KILL $$"}) == 128 + SIGKILL);
}

TEST_CASE("what cannot be started says why, and leaves the signals as they were") {
  const auto absent = Child::start({"/nonexistent/program"});
  REQUIRE_FALSE(absent);
  CHECK(absent.why().code == ExitCode::not_found);
  CHECK(absent.why().message == "cannot run \"/nonexistent/program\": No such file or directory");
  const auto unlisted = Child::start({"no-program-of-this-name"});
  REQUIRE_FALSE(unlisted);
  CHECK(unlisted.why().code == ExitCode::not_found);
  const auto refused = Child::start({"/etc/passwd"});
  REQUIRE_FALSE(refused);
  CHECK(refused.why().code == ExitCode::not_runnable);
  CHECK(refused.why().message == "cannot run \"/etc/passwd\": Permission denied");
  const auto set = blocked();
  CHECK_FALSE(sigismember(&set, SIGTERM));
}

TEST_CASE("an end is seen at once, a time that comes first too") {
  auto running = started({"sleep", "3600"});
  const auto begun = Child::Clock::now();
  CHECK_FALSE(running.wait_until(begun + milliseconds(20)));
  CHECK(Child::Clock::now() - begun >= milliseconds(20));
  CHECK_FALSE(running.wait_until(begun));
  kill(static_cast<pid_t>(running.pid()), SIGKILL);
  CHECK(running.wait_until(begun + seconds(600)));
  CHECK(Child::Clock::now() - begun < seconds(300));
  CHECK(running.wait_until(begun));
  CHECK(running.end().use.largest_bytes.value_or(0) > 0);
}

TEST_CASE("the signal that ended a command is named") {
  const auto signal_of = [](const char* script) {
    auto running = started({"sh", "-c", script});
    running.wait();
    return running.end().signal;
  };
  CHECK(signal_of("kill -KILL $$") == "SIGKILL");
  CHECK(signal_of("kill -ALRM $$") == "SIGALRM");
  CHECK(signal_of("exit 137").empty());
  CHECK(signal_of("true").empty());
}

TEST_CASE("signals that a process sends are passed on") {
  CHECK(code_when_sent(SIGTERM) == 128 + SIGTERM);
  CHECK(code_when_sent(SIGHUP) == 128 + SIGHUP);
  CHECK(code_when_sent(SIGINT) == 128 + SIGINT);
  CHECK(code_when_sent(SIGQUIT) == 128 + SIGQUIT);
  CHECK(code_when_sent(SIGUSR1) == 128 + SIGUSR1);  // a batch system's warning
  CHECK(code_when_sent(SIGUSR2) == 128 + SIGUSR2);
  CHECK(code_when_sent(SIGXCPU) == 128 + SIGXCPU);
  CHECK(code_when_sent(SIGVTALRM) == 128 + SIGVTALRM);
  CHECK(code_when_sent(SIGPROF) == 128 + SIGPROF);
}

TEST_CASE("a signal is passed on, and the end noticed, while nobody waits for them") {
  auto running = started({"sleep", "60"});
  const auto begun = Child::Clock::now();
  kill(getpid(), SIGTERM);
  std::this_thread::sleep_for(seconds(2));
  CHECK(running.wait_until(Child::Clock::now()));
  CHECK(running.end().at - begun < milliseconds(1500));
}

TEST_CASE("what hmn ignored from the start stays ignored, for it and for the command") {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  auto running = started({"sleep", "60"});
  kill(getpid(), SIGHUP);
  CHECK_FALSE(running.wait_until(Child::Clock::now() + milliseconds(100)));
  kill(getpid(), SIGTERM);
  running.wait();
  CHECK(static_cast<int>(running.end().status) == 128 + SIGTERM);
  CHECK(has_line("^SigIgn:.*[13579bdf]$"));
  std::signal(SIGHUP, before);
}

TEST_CASE("a command has the signals as hmn found them") {
  const auto pipe_before = std::signal(SIGPIPE, SIG_DFL);
  const auto size_before = std::signal(SIGXFSZ, SIG_DFL);
  hmn::cli::prepare_streams();
  CHECK(has_line("^SigBlk:.0*$"));
  CHECK(has_line("^SigIgn:.*[02468ace]..[02468ace]...$"));
  hmn::cli::prepare_streams();  // now ignored before
  CHECK(has_line("^SigIgn:.*[13579bdf]..[13579bdf]...$"));
  std::signal(SIGPIPE, pipe_before);
  std::signal(SIGXFSZ, size_before);
  const auto set = blocked();
  CHECK_FALSE(sigismember(&set, SIGINT));
}

TEST_CASE("a command ignores SIGCHLD as hmn did when it began, and its end is known") {
  const auto before = std::signal(SIGCHLD, SIG_DFL);
  CHECK(has_line("^SigIgn:.*[02468ace]....$"));
  std::signal(SIGCHLD, SIG_IGN);
  CHECK(has_line("^SigIgn:.*[13579bdf]....$"));
  std::signal(SIGCHLD, SIG_IGN);
  CHECK(code_of({"sh", "-c", "exit 7"}) == 7);
  std::signal(SIGCHLD, SIG_IGN);
  const auto absent = Child::start({"/nonexistent/program"});
  REQUIRE_FALSE(absent);
  CHECK(absent.why().code == ExitCode::not_found);
  std::signal(SIGCHLD, before);
}

TEST_CASE("an end is seen where all signals were blocked, and the command has them so") {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  {
    auto running = started({"grep", "-q", "^SigBlk:.*[13579bdf]$", "/proc/self/status"});
    CHECK(running.wait_until(Child::Clock::now() + seconds(30)));
    CHECK(running.end().status == ExitCode::done);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The command has left the terminal's group: it would not get Ctrl+C but from us.
TEST_CASE("what the terminal sends is not passed on") {
  const std::string command =
      "got=7; trap 'got=9' INT; trap 'exit $got' TERM; echo ready; while :; do sleep 0.05; done";
  int terminal = -1;
  const pid_t us = forkpty(&terminal, nullptr, nullptr, nullptr);
  REQUIRE(us >= 0);
  if (us == 0) {
    hmn::cli::prepare_streams();  // the output is the terminal
    auto made = Child::start({"setsid", "sh", "-c", command});
    if (made) made->wait();
    _exit(made ? static_cast<int>(made->end().status) : 1);
  }
  CHECK(says(terminal, "ready"));
  CHECK(write(terminal, "\x03", 1) == 1);
  CHECK(says(terminal, "^C"));
  usleep(200'000);  // on a slower machine the test would miss what it looks for, and pass
  kill(us, SIGTERM);
  int status = 0;
  CHECK(waitpid(us, &status, 0) == us);
  close(terminal);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}
