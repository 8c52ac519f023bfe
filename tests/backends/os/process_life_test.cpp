// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A statm of zeros has a different reason for each cause.
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "platform/clock.hpp"
#include "support.hpp"

using namespace hmn;
namespace field = process_memory_field;

namespace {

hmn_fake::Process make_process_without_memory(char state, std::uint32_t flags,
                                              std::uint32_t threads = 1) {
  hmn_fake::Process process;
  process.pid = 50;
  process.stat = hmn_fake::format_text(
      50, hmn_fake::StatLine{.comm = "x", .state = state, .flags = flags, .threads = threads});
  process.statm = "0 0 0 0 0 0 0\n";
  process.status = "Name:\tx\nState:\tZ (zombie)\n";
  return process;
}

// Runs `body` in a child, passes its PID to `check`, then kills and reaps it.
template <class Body, class Look>
void run_with_child(Body&& body, Look&& check) {
  const pid_t child = fork();
  if (child == 0) body();
  check(static_cast<std::uint32_t>(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

bool becomes_true(const auto& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    platform::sleep_ns(10 * platform::ns_per_ms);
  }
  return false;
}

// pthread_exit would unwind into the test runner.
[[noreturn]] void end_this_thread() {
  for (;;) syscall(SYS_exit, 0);
}

[[noreturn]] void lose_first_thread() {
  std::thread([] {
    for (;;) pause();
  }).detach();
  end_this_thread();
}

}  // namespace

TEST_CASE("a zombie is reported as no process, with a message that says zombie") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, make_process_without_memory('Z', 0x400000));
  for (const std::uint64_t fields : {field::cheap, field::peak_resident, field::all}) {
    ProcessMemory memory;
    const auto result = make_host(tree)->memory(50, fields, memory);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::no_process);
    CHECK(mentions(result.failure(), "zombie"));
    CHECK_FALSE(memory.resident);
  }
}

TEST_CASE("a kernel thread has no memory of its own") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, make_process_without_memory('I', 0x04208040));
  for (const std::uint64_t fields : {field::cheap, field::swap, field::all}) {
    ProcessMemory memory;
    const auto result = make_host(tree)->memory(50, fields, memory);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::unsupported);
    CHECK(mentions(result.failure(), "kernel thread"));
  }
}

TEST_CASE("a running process that has unmapped everything has 0 bytes") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, make_process_without_memory('R', 0x400000));
  ProcessMemory memory;
  REQUIRE(make_host(tree)->memory(50, field::cheap, memory));
  CHECK(memory.resident == 0);
  CHECK(memory.virtual_size == 0);
}

TEST_CASE("a process whose first thread has ended is read through another thread") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, make_process_without_memory('Z', 0x400000, 2));
  tree.write("proc/50/task/50/stat",
             hmn_fake::format_text(50, hmn_fake::StatLine{.state = 'Z', .threads = 2}));
  tree.write("proc/50/task/51/stat",
             hmn_fake::format_text(51, hmn_fake::StatLine{.state = 'S', .threads = 2}));
  tree.write("proc/50/task/51/statm", "100 10 1 1 0 1 0\n");
  ProcessMemory memory;
  REQUIRE(make_host(tree)->memory(50, field::cheap, memory));
  CHECK(memory.pid == 50);
  CHECK(*memory.virtual_size == 10 * *memory.resident);
}

TEST_CASE("on the running system a zombie is recognized") {
  run_with_child([] { _exit(0); },
                 [](std::uint32_t pid) {
                   ProcessMemory memory;
                   const auto is_zombie = [&] {
                     const auto result = make_real_host()->memory(pid, field::cheap, memory);
                     return !result && result.failure().code == Status::no_process &&
                            mentions(result.failure(), "zombie");
                   };
                   CHECK(becomes_true(is_zombie));
                 });
}

TEST_CASE("on the running system a process without its first thread is read") {
  run_with_child(
      [] { lose_first_thread(); },
      [](std::uint32_t pid) {
        const auto has_first_thread_ended = [&] {
          Usage row;
          row.pid = pid;
          make_real_host()->describe(row);
          return !row.host_resident;
        };
        REQUIRE(becomes_true(has_first_thread_ended));
        ProcessMemory memory;
        REQUIRE(make_real_host()->memory(pid, field::cheap | field::peak_resident, memory));
        CHECK(*memory.resident > 0);
        CHECK(*memory.peak_resident > 0);
        CHECK(memory.pid == pid);
      });
}

// qemu-user ends with its first thread.
TEST_CASE("on the running system a caller without its first thread reads itself" *
          doctest::skip(HMN_TEST_EMULATED)) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] {
      platform::sleep_ns(200 * platform::ns_per_ms);
      ProcessMemory memory;
      const bool is_correct =
          static_cast<bool>(make_real_host()->own_memory(field::cheap, memory)) &&
          memory.resident.value_or(0) > 0;
      _exit(is_correct ? 0 : 1);
    }).detach();
    end_this_thread();
  }
  int code = -1;
  waitpid(child, &code, 0);
  CHECK(WIFEXITED(code));
  CHECK(WEXITSTATUS(code) == 0);
}
