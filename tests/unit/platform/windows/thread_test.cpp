// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/thread.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <atomic>
#include <cerrno>

#include "platform/clock.hpp"

using namespace hmn::platform;

namespace {

struct ThreadReport {
  DWORD thread = 0;
  std::atomic<bool> is_done{false};
};

void fill_report(void* argument) {
  ThreadReport& report = *static_cast<ThreadReport*>(argument);
  report.thread = GetCurrentThreadId();
  report.is_done = true;
}

}  // namespace

TEST_CASE("thread: a started thread runs concurrently with the caller") {
  ThreadReport report;
  REQUIRE(start_detached(fill_report, &report, "hmn-worker") == 0);
  const uint64_t deadline = monotonic_ns() + 60 * ns_per_second;
  while (!report.is_done && monotonic_ns() < deadline) sleep_ns(ns_per_ms);
  REQUIRE(report.is_done);
  CHECK(report.thread != 0);
  CHECK(report.thread != GetCurrentThreadId());
}

TEST_CASE("thread: no_cancel restores errno and the last error") {
  errno = EDOM;
  SetLastError(4711);
  {
    const NoCancel guarded;
    errno = EBADF;
    SetLastError(1);
  }
  CHECK(GetLastError() == 4711);
  CHECK(errno == EDOM);
}
