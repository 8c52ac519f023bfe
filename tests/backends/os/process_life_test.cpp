// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A statm of zeros: each cause has its own reason.
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

hmn_fake::Process without_memory(char state, std::uint32_t flags, std::uint32_t threads = 1) {
  hmn_fake::Process p;
  p.pid = 50;
  p.stat = hmn_fake::text_of(
      50, hmn_fake::StatLine{.comm = "x", .state = state, .flags = flags, .threads = threads});
  p.statm = "0 0 0 0 0 0 0\n";
  p.status = "Name:\tx\nState:\tZ (zombie)\n";
  return p;
}

// Runs `body` in a child, gives its pid to `look`, then ends and reaps it.
template <class Body, class Look>
void beside(Body&& body, Look&& look) {
  const pid_t child = fork();
  if (child == 0) body();
  look(static_cast<std::uint32_t>(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

bool comes_true(const auto& condition) {
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

TEST_CASE("a zombie is no process, and says that it is one") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, without_memory('Z', 0x400000));
  for (const std::uint64_t fields : {field::cheap, field::peak_resident, field::all}) {
    ProcessMemory m;
    const auto r = host_on(tree)->memory(50, fields, m);
    REQUIRE_FALSE(r);
    CHECK(r.why().code == Status::no_process);
    CHECK(mentions(r.why(), "zombie"));
    CHECK_FALSE(m.resident);
  }
}

TEST_CASE("a kernel thread has no memory of its own") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, without_memory('I', 0x04208040));
  for (const std::uint64_t fields : {field::cheap, field::swap, field::all}) {
    ProcessMemory m;
    const auto r = host_on(tree)->memory(50, fields, m);
    REQUIRE_FALSE(r);
    CHECK(r.why().code == Status::unsupported);
    CHECK(mentions(r.why(), "kernel thread"));
  }
}

TEST_CASE("zero is the figure of a running process that has unmapped everything") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, without_memory('R', 0x400000));
  ProcessMemory m;
  REQUIRE(host_on(tree)->memory(50, field::cheap, m));
  CHECK(m.resident == 0);
  CHECK(m.virtual_size == 0);
}

TEST_CASE("a process whose first thread has ended is read through another") {
  const hmn_fake::Tree tree;
  hmn_fake::add_process(tree, without_memory('Z', 0x400000, 2));
  tree.write("proc/50/task/50/stat",
             hmn_fake::text_of(50, hmn_fake::StatLine{.state = 'Z', .threads = 2}));
  tree.write("proc/50/task/51/stat",
             hmn_fake::text_of(51, hmn_fake::StatLine{.state = 'S', .threads = 2}));
  tree.write("proc/50/task/51/statm", "100 10 1 1 0 1 0\n");
  ProcessMemory m;
  REQUIRE(host_on(tree)->memory(50, field::cheap, m));
  CHECK(m.pid == 50);
  CHECK(*m.virtual_size == 10 * *m.resident);
}

TEST_CASE("the running system: a zombie") {
  beside([] { _exit(0); },
         [](std::uint32_t pid) {
           ProcessMemory m;
           const auto is_zombie = [&] {
             const auto r = host_here()->memory(pid, field::cheap, m);
             return !r && r.why().code == Status::no_process && mentions(r.why(), "zombie");
           };
           CHECK(comes_true(is_zombie));
         });
}

TEST_CASE("the running system: a process without its first thread") {
  beside([] { lose_first_thread(); },
         [](std::uint32_t pid) {
           const auto first_has_ended = [&] {
             Usage row;
             row.pid = pid;
             host_here()->describe(row);
             return !row.host_resident;
           };
           REQUIRE(comes_true(first_has_ended));
           ProcessMemory m;
           REQUIRE(host_here()->memory(pid, field::cheap | field::peak_resident, m));
           CHECK(*m.resident > 0);
           CHECK(*m.peak_resident > 0);
           CHECK(m.pid == pid);
         });
}

// qemu-user ends with its first thread.
TEST_CASE("the running system: a caller without its first thread reads itself" *
          doctest::skip(HMN_TEST_EMULATED)) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] {
      platform::sleep_ns(200 * platform::ns_per_ms);
      ProcessMemory m;
      const bool right =
          static_cast<bool>(host_here()->own_memory(field::cheap, m)) && m.resident.value_or(0) > 0;
      _exit(right ? 0 : 1);
    }).detach();
    end_this_thread();
  }
  int code = -1;
  waitpid(child, &code, 0);
  CHECK(WIFEXITED(code));
  CHECK(WEXITSTATUS(code) == 0);
}
