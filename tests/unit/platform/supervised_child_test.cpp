// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <thread>

#include "platform/sanitizer.hpp"
#include "subprocess_support.hpp"
#include "support.hpp"

using namespace hmn::platform;
using test::Kind;
using test::run_program;
using test::run_shell;
using test::second;

namespace {

constexpr int any_kind = __WALL;

HMN_UNINSTRUMENTED int return_zero(void*) {
  return 0;
}

// Returns the supervisor among the children of this thread, 0 if there is none.
pid_t find_supervisor(pid_t thread) {
  const std::string self = "/proc/self/task/" + std::to_string(thread) + "/children";
  std::ifstream children(self);
  for (pid_t child = 0; children >> child;) {
    std::ifstream file("/proc/" + std::to_string(child) + "/comm");
    std::string name;
    std::getline(file, name);
    if (name == "hmn-supervisor") return child;
  }
  return 0;
}

bool is_reading(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/syscall");
  long call = -1;
  return file >> call && call == SYS_read;
}

// Sends a signal to the thread's supervisor once its program runs and the supervisor waits for it.
pid_t signal_supervisor(pid_t thread, int number, const std::string& mark) {
  pid_t supervisor = 0;
  for (int i = 0; i < 10000; ++i) {
    sleep_ns(ns_per_ms);
    supervisor = access(mark.c_str(), F_OK) == 0 ? find_supervisor(thread) : 0;
    if (supervisor > 0 && is_reading(supervisor)) break;
  }
  if (supervisor > 0) kill(supervisor, number);
  return supervisor;
}

bool lacks_supervisors() {
  const bool is_missing = !test::has_supervisors();
  if (is_missing) MESSAGE("skipped: unit.platform: no supervisor under this emulator or sanitizer");
  return is_missing;
}

// Later calls have waited for every supervisor; each may leave its own to the next.
bool all_collected() {
  for (int i = 0; i < 3000; ++i) {
    siginfo_t info;
    constexpr int flags = any_kind | WEXITED | WNOHANG | WNOWAIT;
    if (waitid(P_ALL, 0, &info, flags) < 0 && errno == ECHILD) return true;
    sleep_ns(20 * ns_per_ms);
    run_program("/absent");
  }
  return false;
}

}  // namespace

bool test::has_supervisors() {
  if (is_thread_sanitized) return false;
  alignas(64) static char stack[65536];
  const pid_t child = clone(return_zero, stack + sizeof stack, CLONE_VM, nullptr);
  if (child > 0) waitpid(child, nullptr, any_kind);
  return child > 0;
}

TEST_CASE("supervised_child: the host's SIGCHLD handler is not called") {
  if (lacks_supervisors()) return;
  static std::atomic<int> signals{0};
  struct sigaction counting {};
  struct sigaction previous {};
  counting.sa_handler = [](int) { ++signals; };
  sigaction(SIGCHLD, &counting, &previous);
  CHECK(run_shell("exit 3").exit_code == 3);
  CHECK(run_shell("sleep 1000", second / 10).kind == Kind::timed_out);
  sleep_ns(50 * ns_per_ms);
  sigaction(SIGCHLD, &previous, nullptr);
  CHECK(signals == 0);
}

TEST_CASE("supervised_child: an ignored SIGCHLD does not lose the exit code") {
  if (lacks_supervisors()) return;
  struct sigaction ignoring {};
  struct sigaction previous {};
  ignoring.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignoring, &previous);
  const auto result = run_shell("echo x; exit 3");
  sigaction(SIGCHLD, &previous, nullptr);
  CHECK(result.output == "x\n");
  CHECK(result.has_exit_status);
  CHECK(result.exit_code == 3);
}

TEST_CASE("supervised_child: a host that waits for any child gets only its own") {
  if (lacks_supervisors()) return;
  std::atomic<bool> is_over{false};
  std::atomic<int> foreign{0};
  std::atomic<int> own{0};
  std::thread host([&] {
    while (!is_over) {
      const pid_t child = fork();
      if (child == 0) _exit(7);
      int status = 0;
      for (pid_t waited = 0; (waited = waitpid(-1, &status, 0)) > 0;) {
        ++(waited == child && WEXITSTATUS(status) == 7 ? own : foreign);
      }
    }
  });
  int successes = 0;
  for (int i = 0; i < 50; ++i) {
    const auto result = run_shell("exit 3");
    successes += result.has_exit_status && result.exit_code == 3 ? 1 : 0;
  }
  is_over = true;
  host.join();
  CHECK(successes == 50);
  CHECK(foreign == 0);
  CHECK(own > 0);
}

TEST_CASE("supervised_child: a host that waits for clones too does not take the exit code") {
  if (lacks_supervisors()) return;
  std::atomic<bool> is_over{false};
  std::thread host([&] {
    while (!is_over) waitpid(-1, nullptr, any_kind | WNOHANG);
  });
  for (int i = 0; i < 20; ++i) {
    const auto result = run_shell("exit 3");
    CHECK(result.has_exit_status);
    CHECK(result.exit_code == 3);
  }
  is_over = true;
  host.join();
}

TEST_CASE("supervised_child: no supervisor is left, not even a zombie") {
  if (lacks_supervisors()) return;
  run_shell("exit 0");
  run_program("/absent");
  CHECK(run_shell("sleep 1000", second / 10).kind == Kind::timed_out);
  CHECK(all_collected());
}

TEST_CASE("supervised_child: a supervisor that does not end at once is left to a later call") {
  if (lacks_supervisors()) return;
  const test::ScratchFolder scratch;
  const std::string mark = scratch.path("mark");
  const auto caller = static_cast<pid_t>(syscall(SYS_gettid));
  pid_t supervisor = 0;
  std::thread freezer([&] { supervisor = signal_supervisor(caller, SIGSTOP, mark); });
  const uint64_t start = monotonic_ns();
  const auto result = run_shell("echo $$; : >" + mark + "; sleep 1000", 5 * second);
  const uint64_t elapsed = monotonic_ns() - start;
  freezer.join();
  REQUIRE(supervisor > 0);
  CHECK(result.kind == Kind::timed_out);
  CHECK(elapsed < 300 * second);
  CHECK(find_supervisor(caller) == supervisor);
  CHECK(run_shell("exit 3").exit_code == 3);

  kill(supervisor, SIGCONT);
  CHECK(test::ends_within(std::stoi(result.output), 60000));
  CHECK(test::ends_within(supervisor, 60000));
  CHECK(all_collected());
}

TEST_CASE("supervised_child: a killed supervisor ends its program and leaves the exit unknown") {
  if (lacks_supervisors()) return;
  const test::ScratchFolder scratch;
  const std::string mark = scratch.path("mark");
  const auto caller = static_cast<pid_t>(syscall(SYS_gettid));
  std::thread killer([&] { signal_supervisor(caller, SIGKILL, mark); });
  const uint64_t start = monotonic_ns();
  const auto result = run_shell(": >" + mark + "; exec sleep 1000", 60 * second);
  killer.join();
  CHECK(result.kind == Kind::finished);
  CHECK_FALSE(result.has_exit_status);
  CHECK(monotonic_ns() - start < 59 * second);
  CHECK(all_collected());
}

TEST_CASE("supervised_child: nothing outlives a killed host") {
  if (lacks_supervisors()) return;
  const test::ScratchFolder scratch;
  const std::string pid_file = scratch.path("pid");
  const pid_t host = fork();
  if (host == 0) {
    run_shell(
        "echo $$ >" + pid_file + ".new; mv " + pid_file + ".new " + pid_file + "; exec sleep 1000",
        600 * second);
    _exit(0);
  }
  pid_t program = 0;
  for (int i = 0; i < 60000 && program == 0; ++i) {
    sleep_ns(ns_per_ms);
    std::ifstream(pid_file) >> program;
  }
  REQUIRE(program > 0);
  CHECK(test::is_running(program));
  kill(host, SIGKILL);
  test::wait_for(host);
  CHECK(test::ends_within(program, 60000));
}

TEST_CASE("supervised_child: a deadline during the start ends the run cleanly") {
  if (lacks_supervisors()) return;
  for (uint64_t limit = 0; limit < 2 * ns_per_ms; limit += ns_per_ms / 50) {
    const auto result = run_program("/bin/echo", {"x"}, limit);
    CHECK((result.kind == Kind::timed_out || result.output == "x\n"));
  }
  const auto after = run_program("/bin/echo", {"x"});
  CHECK(after.output == "x\n");
  CHECK(all_collected());
}

TEST_CASE("supervised_child: descriptors are closed on a kernel without close_range") {
  if (lacks_supervisors()) return;
  const int code = test::in_child([] {
    if (!test::refuse(SYS_close_range, ENOSYS)) return 9;
    const int high = fcntl(0, F_DUPFD, 600);
    const auto result = run_program("/bin/ls", {"/proc/self/fd"});
    return high >= 600 && result.output == "0\n1\n2\n3\n" ? 0 : 1;
  });
  CHECK(code == 0);
}
