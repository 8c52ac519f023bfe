// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <sstream>
#include <thread>

#include "subprocess_support.hpp"
#include "support.hpp"

using namespace hmn::platform;
using test::Kind;
using test::run_hanging;
using test::run_program;
using test::run_shell;
using test::second;

namespace {

// Where a supervisor is refused anyway, no filter is needed.
bool refuse_supervisors(int error) {
  return !test::has_supervisors() ||
         test::refuse(SYS_clone, error, CLONE_VM | CLONE_VFORK | CLONE_THREAD, CLONE_VM);
}

// A killed child that does not end at once is left to a later call.
bool leaves_no_child() {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    siginfo_t info;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1) return errno == ECHILD;
    sleep_ns(10 * ns_per_ms);
    run_program("/bin/true");
  }
  return false;
}

int check_programs(int error) {
  if (!refuse_supervisors(error)) return 9;
  const auto plain = run_shell("echo x; exit 3");
  if (plain.output != "x\n" || !plain.has_exit_status || plain.exit_code != 3) return 1;
  if (run_shell("kill -9 $$").signal != SIGKILL) return 2;
  if (run_program("/absent").kind != Kind::not_found) return 3;
  if (run_program("/etc/passwd").error != EACCES) return 4;
  if (run_program("/bin/cat", {"/dev/zero"}).kind != Kind::output_too_long) return 5;
  if (run_program("/bin/ls", {"/proc/self/fd"}).output != "0\n1\n2\n3\n") return 6;
  return leaves_no_child() ? 0 : 7;
}

}  // namespace

TEST_CASE("spawned_child: programs run without a supervisor where one is refused") {
  for (const int error : {EINVAL, ENOSYS, EPERM}) {
    CHECK(test::in_child([error] { return check_programs(error); }) == 0);
  }
}

TEST_CASE("spawned_child: an ignored SIGCHLD leaves the exit code unknown") {
  const int code = test::in_child([] {
    if (!refuse_supervisors(EINVAL)) return 9;
    signal(SIGCHLD, SIG_IGN);
    const auto result = run_shell("echo x; exit 3");
    return result.kind == Kind::finished && result.output == "x\n" && !result.has_exit_status ? 0
                                                                                              : 1;
  });
  CHECK(code == 0);
}

TEST_CASE("spawned_child: a host that waits for any child may take the exit code") {
  const int code = test::in_child([] {
    if (!refuse_supervisors(EINVAL)) return 9;
    std::atomic<bool> is_over{false};
    std::thread host([&] {
      while (!is_over) waitpid(-1, nullptr, WNOHANG);
    });
    int wrong = 0;
    for (int i = 0; i < 10; ++i) {
      const auto result = run_shell("echo x; exit 3");
      const bool is_right = result.kind == Kind::finished && result.output == "x\n" &&
                            (!result.has_exit_status || result.exit_code == 3);
      wrong += is_right ? 0 : 1;
    }
    is_over = true;
    host.join();
    return wrong;
  });
  CHECK(code == 0);
}

TEST_CASE("spawned_child: the process group is killed at the deadline") {
  const int code = test::in_child([] {
    if (!refuse_supervisors(EINVAL)) return 9;
    const uint64_t start = monotonic_ns();
    const auto result = run_hanging("trap '' TERM; sleep 1000 & echo $$ $!; sleep 1000");
    if (result.kind != Kind::timed_out || monotonic_ns() - start > 300 * second) return 1;
    pid_t shell = 0;
    pid_t sleeper = 0;
    std::istringstream(result.output) >> shell >> sleeper;
    if (shell <= 0 || sleeper <= 0) return 2;
    if (!test::ends_within(shell, 60000) || !test::ends_within(sleeper, 60000)) return 3;
    run_program("/bin/true");
    return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 4;
  });
  CHECK(code == 0);
}
