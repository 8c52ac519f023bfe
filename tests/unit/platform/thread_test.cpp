// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/thread.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>

#include "platform/clock.hpp"
#include "platform/mutex.hpp"
#include "platform/sanitizer.hpp"

using namespace hmn::platform;

namespace {

struct ThreadReport {
  sigset_t blocked{};
  size_t stack_size = 0;
  int detach_state = -1;
  char name[16] = {};
  Mutex guard;
  Condition changed;
  bool is_done = false;
};

void fill_report(void* argument) {
  ThreadReport& report = *static_cast<ThreadReport*>(argument);
  pthread_sigmask(SIG_BLOCK, nullptr, &report.blocked);
  pthread_getname_np(pthread_self(), report.name, sizeof report.name);
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstacksize(&attributes, &report.stack_size);
  pthread_attr_getdetachstate(&attributes, &report.detach_state);
  pthread_attr_destroy(&attributes);
  const std::lock_guard lock(report.guard);
  report.is_done = true;
  report.changed.notify_all();
}

bool run_and_wait(ThreadReport& report, const char* name) {
  if (start_detached(fill_report, &report, name) != 0) return false;
  const std::uint64_t deadline = monotonic_ns() + 10 * ns_per_second;
  std::unique_lock lock(report.guard);
  while (!report.is_done)
    if (!report.changed.wait_until(lock, deadline)) break;
  return report.is_done;
}

}  // namespace

TEST_CASE("thread: a started thread is detached and has its name and stack size") {
  ThreadReport report;
  REQUIRE(run_and_wait(report, "hmn-worker"));
  CHECK(report.detach_state == PTHREAD_CREATE_DETACHED);
  CHECK(report.stack_size >= size_t{512} << 10);
  CHECK(std::string(report.name) == "hmn-worker");
}

TEST_CASE("thread: a long name is cut") {
  ThreadReport report;
  REQUIRE(run_and_wait(report, "hmn-worker-with-a-long-name"));
  CHECK(std::string(report.name) == "hmn-worker-with");
}

TEST_CASE("thread: every signal is blocked in the thread, and the caller's mask is unchanged") {
  sigset_t all;
  sigset_t before;
  sigset_t blockable;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  sigset_t caller_mask;
  sigemptyset(&caller_mask);
  sigaddset(&caller_mask, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &caller_mask, &blockable);
  ThreadReport report;
  const bool has_run = run_and_wait(report, "hmn-worker");
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  REQUIRE(has_run);
  CHECK(sigismember(&blockable, SIGSEGV) == 1);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    INFO("signal ", number);
    CHECK(sigismember(&report.blocked, number) == sigismember(&blockable, number));
    CHECK(sigismember(&after, number) == (number == SIGUSR2 ? 1 : 0));
  }
}

TEST_CASE("thread: no_cancel restores errno and keeps an outer state") {
  errno = EDOM;
  {
    const NoCancel outer;
    errno = ERANGE;
    {
      const NoCancel inner;
      errno = EBADF;
    }
    CHECK(errno == ERANGE);
    int state = -1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    CHECK(state == PTHREAD_CANCEL_DISABLE);
  }
  CHECK(errno == EDOM);
  int state = -1;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  CHECK(state == PTHREAD_CANCEL_ENABLE);
}

namespace {

std::atomic<int> passed{0};
std::atomic<uint32_t> is_cancelled{0};

void pass_guarded() {
  const NoCancel guarded;
  is_cancelled.wait(0);
  pthread_testcancel();
  ++passed;
}

// AddressSanitizer does not follow a cancellation's unwinding.
HMN_UNINSTRUMENTED void* be_cancelled(void*) {
  pass_guarded();
  pthread_testcancel();
  ++passed;
  return nullptr;
}

}  // namespace

TEST_CASE("thread: a cancellation waits for the end of no_cancel") {
  pthread_t thread;
  REQUIRE(pthread_create(&thread, nullptr, be_cancelled, nullptr) == 0);
  pthread_cancel(thread);
  is_cancelled.store(1, std::memory_order_release);
  is_cancelled.notify_all();
  void* result = nullptr;
  pthread_join(thread, &result);
  CHECK(result == PTHREAD_CANCELED);
  CHECK(passed == 1);
}
