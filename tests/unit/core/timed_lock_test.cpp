// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/timed_lock.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "platform/clock.hpp"

using hmn::timed_guard;
using hmn::timed_lock;
using hmn::platform::monotonic_ns;
using hmn::platform::no_deadline;

TEST_CASE("one thread at a time is inside") {
  timed_lock lock;
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const timed_guard guard(lock, no_deadline);
        count += guard ? 1 : 0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(count == 16000);
}

TEST_CASE("a lock that is held is given up at the deadline, and can be had afterwards") {
  timed_lock lock;
  const std::uint64_t begun = monotonic_ns();
  {
    const timed_guard held(lock, no_deadline);
    REQUIRE(held);
    std::thread([&] {
      const timed_guard late(lock, begun + 20'000'000);
      CHECK(!late);
    }).join();
    CHECK(monotonic_ns() - begun >= 20'000'000);
  }
  const timed_guard again(lock, monotonic_ns());
  CHECK(again);
}
