// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/process.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <set>
#include <thread>
#include <vector>

#include "platform/sanitizer.hpp"
#include "support.hpp"
#include "syscall_trace.hpp"

using namespace hmn::platform;

namespace {

int check_descendants(int depth, std::set<uint64_t> ancestors) {
  const uint64_t generation = process_generation();
  if (generation == 0 || generation != process_generation()) return 2;
  if (!ancestors.insert(generation).second) return 3;
  if (depth == 0) return 0;
  return test::in_child([&] { return check_descendants(depth - 1, ancestors); });
}

// First use by eight threads at once; 0 when they agree.
int race_first_use(uint64_t ancestor) {
  std::atomic<bool> go{false};
  std::array<uint64_t, 8> generations{};
  std::vector<std::thread> threads;
  for (uint64_t& generation : generations) {
    threads.emplace_back([&] {
      while (!go) {
      }
      generation = process_generation();
    });
  }
  go = true;
  for (std::thread& thread : threads) thread.join();
  const std::set<uint64_t> distinct(generations.begin(), generations.end());
  return distinct.size() == 1 && !distinct.contains(0) && !distinct.contains(ancestor) ? 0 : 1;
}

bool has_wiped_pages() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* word = static_cast<volatile int*>(page);
  *word = 1;
  const bool is_supported = madvise(page, 4096, MADV_WIPEONFORK) == 0;
  return is_supported && test::in_child([&] { return *word; }) == 0;
}

}  // namespace

TEST_CASE("fork: a child, its child and its grandchild have different generations") {
  CHECK(check_descendants(3, {}) == 0);
  const uint64_t generation = process_generation();
  for (int i = 0; i < 10; ++i) {
    CHECK(test::in_child([&] { return process_generation() != generation ? 0 : 1; }) == 0);
  }
  CHECK(process_generation() == generation);
}

TEST_CASE("fork: threads of a child that race for its first use get one generation") {
  const uint64_t generation = process_generation();
  for (int i = 0; i < 20; ++i)
    CHECK(test::in_child([&] { return race_first_use(generation); }) == 0);
}

TEST_CASE("fork: threads that race for the first use of all agree" * doctest::skip()) {
  CHECK(race_first_use(0) == 0);
}

TEST_CASE("fork: threads may race for the first use in a fresh process") {
  if (!test::can_run_itself()) return;
  for (int i = 0; i < 10; ++i) {
    CHECK(test::run_test_case("/proc/self/exe",
                              "fork: threads that race for the first use of all agree") == 0);
  }
}

TEST_CASE("fork: a fork that bypasses the handlers is detected") {
  // A sanitizer's runtime does not survive a fork behind its back.
  if (is_thread_sanitized || !has_wiped_pages()) return;
  const uint64_t generation = process_generation();
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) _exit(process_generation() != generation ? 0 : 1);
  CHECK(test::wait_for(child) == 0);
}

TEST_CASE("fork: no system call is made after the first use") {
  const auto calls = test::trace_system_calls([] { process_generation(); },
                                              [] {
                                                for (int i = 0; i < 100; ++i) process_generation();
                                              });
  if (!calls) {
    MESSAGE("skipped: unit.platform: tracing is refused here");
    return;
  }
  CHECK(calls->empty());
}

TEST_CASE("fork: seen without MADV_WIPEONFORK" * doctest::skip()) {
  REQUIRE(test::refuse_third(SYS_madvise, EINVAL, MADV_WIPEONFORK));
  void* page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(madvise(page, 4096, MADV_WIPEONFORK) == -1);
  CHECK(race_first_use(0) == 0);
  CHECK(check_descendants(3, {}) == 0);
  const uint64_t generation = process_generation();
  CHECK(test::in_child([&] { return race_first_use(generation); }) == 0);
  CHECK(process_generation() == generation);
}

TEST_CASE("fork: forks are detected on a kernel that cannot wipe a page") {
  if (test::in_child([] { return test::refuse(SYS_getpgid, EINVAL) ? 0 : 1; }) != 0) {
    MESSAGE("skipped: unit.platform: no system call filters here");
    return;
  }
  CHECK(test::run_test_case("/proc/self/exe", "fork: seen without MADV_WIPEONFORK") == 0);
}
