// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/subprocess.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "platform/sanitizer.hpp"
#include "subprocess_support.hpp"
#include "support.hpp"

using namespace hmn::platform;
using test::Kind;
using test::run_hanging;
using test::run_program;
using test::run_shell;
using test::second;

TEST_CASE("subprocess: output and exit code are returned") {
  const auto plain = run_shell("echo one; echo two; exit 3");
  CHECK(plain.kind == Kind::finished);
  CHECK(plain.output == "one\ntwo\n");
  CHECK(plain.has_exit_status);
  CHECK(plain.exit_code == 3);
  CHECK(plain.signal == 0);

  const auto killed = run_shell("echo last; kill -9 $$");
  CHECK(killed.kind == Kind::finished);
  CHECK(killed.output == "last\n");
  CHECK(killed.has_exit_status);
  CHECK(killed.signal == SIGKILL);
  CHECK(killed.exit_code == 0);

  CHECK(run_program("/bin/true").output.empty());
}

TEST_CASE("subprocess: stderr is dropped, or captured on request") {
  Command command{"/bin/sh", {"-c", "echo one; echo two >&2; echo three"}, UINT64_MAX, 1 << 16};
  CHECK(run(command).output == "one\nthree\n");
  command.include_stderr = true;
  CHECK(run(command).output == "one\ntwo\nthree\n");
}

TEST_CASE("subprocess: arguments are passed unchanged") {
  const auto result = run_program("/usr/bin/printf", {"%s|", "", "a b", "$HOME", "*", "é\n"});
  CHECK(result.output == "|a b|$HOME|*|é\n|");
}

TEST_CASE("subprocess: the environment, folder and standard streams are fixed") {
  setenv("HMN_SECRET", "1", 1);
  auto lines = std::istringstream(run_program("/usr/bin/env").output);
  std::vector<std::string> variables;
  for (std::string line; std::getline(lines, line);) variables.push_back(line);
  std::sort(variables.begin(), variables.end());
  CHECK(variables == std::vector<std::string>{"LANG=C", "LC_ALL=C", "PATH=/usr/bin:/bin"});
  unsetenv("HMN_SECRET");

  CHECK(run_program("/bin/pwd").output == "/\n");
  CHECK(run_program("/bin/cat").output.empty());
  CHECK(run_shell("echo error >&2; echo output").output == "output\n");
  CHECK(run_shell("readlink /proc/self/fd/0").output == "/dev/null\n");
}

TEST_CASE("subprocess: no descriptor of ours is inherited") {
  const int leaking = open("/", O_RDONLY);
  const int high = fcntl(leaking, F_DUPFD, 500);
  // The fourth is the listing's own.
  CHECK(run_program("/bin/ls", {"/proc/self/fd"}).output == "0\n1\n2\n3\n");
  close(leaking);
  close(high);
}

TEST_CASE("subprocess: signal actions and mask are reset in the program") {
  struct sigaction ignoring {};
  struct sigaction interrupt {};
  struct sigaction pipe {};
  ignoring.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignoring, &interrupt);
  sigaction(SIGPIPE, &ignoring, &pipe);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);

  const auto result = run_program("/bin/grep", {"-E", "SigBlk|SigIgn", "/proc/self/status"});

  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  CHECK(sigismember(&after, SIGTERM) == 1);
  CHECK(sigismember(&after, SIGINT) == 0);
  sigaction(SIGINT, &interrupt, nullptr);
  struct sigaction restored {};
  sigaction(SIGPIPE, &pipe, &restored);
  const bool is_still_ignored = restored.sa_handler == SIG_IGN;
  CHECK(is_still_ignored);
  std::istringstream words(result.output);
  std::string label;
  uint64_t program_blocks = 1;
  uint64_t program_ignores = 1;
  words >> label >> std::hex >> program_blocks >> label >> program_ignores;
  CHECK(program_blocks == 0);
  // The C library's own signals, from 32 on, are ignored where a parent was started by posix_spawn.
  CHECK((program_ignores & INT32_MAX) == 0);
}

TEST_CASE("subprocess: a program that cannot run gives the reason") {
  const test::ScratchFolder scratch;
  const auto before = test::open_descriptors();
  const auto absent = run_program(scratch.path("absent"));
  CHECK(absent.kind == Kind::not_found);
  CHECK(absent.error == ENOENT);
  const auto below_file = run_program(scratch.write("plain", "") + "/program");
  CHECK(below_file.kind == Kind::not_found);
  CHECK(below_file.error == ENOTDIR);
  const auto plain = run_program(scratch.path("plain"));
  CHECK(plain.kind == Kind::not_runnable);
  CHECK(plain.error == EACCES);
  CHECK(run_program(scratch.path(".")).kind == Kind::not_runnable);
  CHECK_FALSE(plain.has_exit_status);
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("subprocess: a program without its interpreter exists but is not runnable") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("program", "#!/nonexistent/interpreter\n");
  REQUIRE(chmod(path.c_str(), 0755) == 0);
  const auto result = run_program(path);
  if (!test::has_supervisors() && result.kind == Kind::finished) return;  // an emulator's exit 127
  CHECK(result.kind == Kind::not_runnable);
  CHECK(result.error == ENOENT);
}

TEST_CASE("subprocess: only an absolute path without NUL is accepted") {
  for (const char* path : {"", "true", "./true", "bin/true"}) {
    const auto result = run_program(path);
    CHECK(result.kind == Kind::not_runnable);
    CHECK(result.error == EINVAL);
  }
  CHECK(run_program(std::string("/bin/true\0x", 11)).error == EINVAL);
  CHECK(run_program("/bin/echo", {std::string("a\0b", 3)}).error == EINVAL);
}

TEST_CASE("subprocess: nothing starts after the deadline") {
  const test::ScratchFolder scratch;
  const auto result = run({.path = "/bin/touch",
                           .arguments = {scratch.path("touched")},
                           .deadline_ns = monotonic_ns() - 1,
                           .output_cap = 100});
  CHECK(result.kind == Kind::timed_out);
  sleep_ns(20 * ns_per_ms);
  CHECK(access(scratch.path("touched").c_str(), F_OK) != 0);
}

TEST_CASE("subprocess: UINT64_MAX means no deadline") {
  const auto result = run(
      {.path = "/bin/echo", .arguments = {"x"}, .deadline_ns = UINT64_MAX, .output_cap = SIZE_MAX});
  CHECK(result.kind == Kind::finished);
  CHECK(result.output == "x\n");
}

TEST_CASE("subprocess: the output cap is exact") {
  CHECK(run_shell("printf 12345", 20 * second, 5).kind == Kind::finished);
  CHECK(run_shell("printf 12345", 20 * second, 5).output == "12345");
  const auto cut = run_shell("printf 12345", 20 * second, 4);
  CHECK(cut.kind == Kind::output_too_long);
  CHECK(cut.output == "1234");
  CHECK(run_shell("printf 1", 20 * second, 0).kind == Kind::output_too_long);
  CHECK(run_program("/bin/true", {}, 20 * second, 0).kind == Kind::finished);
}

TEST_CASE("subprocess: ten megabytes arrive whole or are cut at the cap") {
  constexpr size_t size = 10'000'000;
  const std::string script = "head -c 10000000 /dev/zero | tr '\\0' x";
  const auto whole = run_shell(script, 20 * second, size);
  CHECK(whole.kind == Kind::finished);
  CHECK(whole.output.size() == size);
  CHECK(whole.output.find_first_not_of('x') == std::string::npos);

  const auto endless = run_program("/bin/cat", {"/dev/zero"}, 20 * second, 1'000'000);
  CHECK(endless.kind == Kind::output_too_long);
  CHECK(endless.output.size() == 1'000'000);
}

TEST_CASE("subprocess: the whole group is killed at the deadline, whatever it ignores") {
  const uint64_t start = monotonic_ns();
  const auto result =
      run_hanging("trap '' TERM INT HUP; sleep 1000 & echo $$ $!; while :; do sleep 1000; done");
  const uint64_t elapsed = monotonic_ns() - start;
  CHECK(result.kind == Kind::timed_out);
  CHECK_FALSE(result.has_exit_status);
  CHECK(elapsed >= second / 2);
  CHECK(elapsed < 300 * second);
  pid_t shell = 0;
  pid_t sleeper = 0;
  std::istringstream(result.output) >> shell >> sleeper;
  REQUIRE(shell > 0);
  REQUIRE(sleeper > 0);
  CHECK(test::ends_within(shell, 60000));
  CHECK(test::ends_within(sleeper, 60000));
}

TEST_CASE("subprocess: output that a grandchild holds open is not complete") {
  const uint64_t start = monotonic_ns();
  const auto result = run_hanging("sleep 1000 & echo $!; exit 0");
  CHECK(monotonic_ns() - start < 300 * second);
  CHECK(result.kind == Kind::timed_out);
  pid_t sleeper = 0;
  std::istringstream(result.output) >> sleeper;
  REQUIRE(sleeper > 0);
  CHECK(test::ends_within(sleeper, 60000));
}

TEST_CASE("subprocess: a program that closed its output is awaited until the deadline") {
  const auto exits = run_shell("echo x; exec >&-; sleep 0.2; exit 5");
  CHECK(exits.kind == Kind::finished);
  CHECK(exits.exit_code == 5);
  const auto stays = run_shell("echo $$; exec >&-; sleep 1000", second / 2);
  CHECK(stays.kind == Kind::timed_out);
  CHECK(test::ends_within(std::stoi(stays.output), 60000));
}

TEST_CASE("subprocess: a host without standard streams can run programs") {
  const int code = test::in_child([] {
    for (int number = 0; number < 16; ++number) close(number);
    const auto result = run_shell("echo output; echo error >&2; cat");
    return result.kind == Kind::finished && result.output == "output\n" ? 0 : 1;
  });
  CHECK(code == 0);
}

TEST_CASE("subprocess: a host without free descriptors gets EMFILE") {
  const int code = test::in_child([] {
    while (dup(0) >= 0) {
    }
    const auto result = run_program("/bin/true");
    return result.kind == Kind::not_runnable && result.error == EMFILE ? 0 : 1;
  });
  CHECK(code == 0);
}

TEST_CASE("subprocess: errno, descriptors, mappings and children are unchanged") {
  const auto count_mappings = [] {
    std::ifstream file("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  run_shell("exit 0");
  const auto descriptors = test::open_descriptors();
  const auto before = count_mappings();
  errno = EDOM;
  for (int i = 0; i < 50; ++i) run_program(i % 2 != 0 ? "/bin/true" : "/absent");
  CHECK(errno == EDOM);
  CHECK(test::open_descriptors() == descriptors);
  run_program("/bin/true");
  // A sanitizer's allocator maps as it likes.
  CHECK(count_mappings() < before + 20);
}

TEST_CASE("subprocess: eight concurrent threads each get their own result") {
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&failures, i] {
      for (int n = 0; n < 10; ++n) {
        const std::string word = std::to_string(i) + "/" + std::to_string(n);
        const auto result = run_shell("echo " + word + "; exit " + std::to_string(i));
        const bool is_right = result.kind == Kind::finished && result.output == word + "\n" &&
                              result.has_exit_status && result.exit_code == i;
        if (!is_right) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

namespace {

Outcome cancelled_result;

// AddressSanitizer does not follow a cancellation's unwinding.
HMN_UNINSTRUMENTED void* run_and_be_cancelled(void*) {
  cancelled_result = run_shell("sleep 0.2; echo done");
  pthread_testcancel();
  return nullptr;
}

}  // namespace

TEST_CASE("subprocess: a cancelled thread finishes its run first") {
  pthread_t thread;
  REQUIRE(pthread_create(&thread, nullptr, run_and_be_cancelled, nullptr) == 0);
  sleep_ns(50 * ns_per_ms);
  pthread_cancel(thread);
  void* end = nullptr;
  pthread_join(thread, &end);
  CHECK(end == PTHREAD_CANCELED);
  CHECK(cancelled_result.output == "done\n");
}
