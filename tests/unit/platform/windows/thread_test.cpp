// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/thread.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <atomic>
#include <cerrno>

#include "platform/clock.hpp"
#include "platform/wait.hpp"

using namespace hmn::platform;

namespace {

struct report {
  DWORD thread = 0;
  std::atomic<uint32_t> done{0};
};

void fill(void* given) {
  report& mine = *static_cast<report*>(given);
  mine.thread = GetCurrentThreadId();
  mine.done.store(1, std::memory_order_release);
  wake_one(mine.done);
}

}  // namespace

TEST_CASE("thread: it runs beside its starter") {
  report seen;
  REQUIRE(start_detached(fill, &seen, "hmn-worker") == 0);
  CHECK(wait_on(seen.done, 0, monotonic_ns() + 60 * ns_per_second) == wake::changed);
  CHECK(seen.thread != 0);
  CHECK(seen.thread != GetCurrentThreadId());
}

TEST_CASE("thread: errno and the last error come back") {
  errno = EDOM;
  SetLastError(4711);
  {
    const no_cancel guarded;
    errno = EBADF;
    SetLastError(1);
  }
  CHECK(GetLastError() == 4711);
  CHECK(errno == EDOM);
}
