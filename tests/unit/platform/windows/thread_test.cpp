// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/thread.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <atomic>
#include <cerrno>

#include "platform/clock.hpp"

using namespace hmn::platform;

namespace {

struct Report {
  DWORD thread = 0;
  std::atomic<bool> is_done{false};
};

void fill(void* given) {
  Report& mine = *static_cast<Report*>(given);
  mine.thread = GetCurrentThreadId();
  mine.is_done = true;
}

}  // namespace

TEST_CASE("thread: it runs beside its starter") {
  Report seen;
  REQUIRE(start_detached(fill, &seen, "hmn-worker") == 0);
  const uint64_t limit = monotonic_ns() + 60 * ns_per_second;
  while (!seen.is_done && monotonic_ns() < limit) sleep_ns(ns_per_ms);
  REQUIRE(seen.is_done);
  CHECK(seen.thread != 0);
  CHECK(seen.thread != GetCurrentThreadId());
}

TEST_CASE("thread: errno and the last error come back") {
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
