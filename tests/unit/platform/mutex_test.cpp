// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/mutex.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "platform/clock.hpp"

using hmn::platform::monotonic_ns;
using hmn::platform::mutex;
using hmn::platform::no_deadline;
using hmn::platform::timed_guard;

TEST_CASE("one thread at a time is inside") {
  mutex lock;
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(count == 16000);
}

TEST_CASE("a mutex that is held is given up at the deadline, and can be had afterwards") {
  mutex lock;
  const std::uint64_t begun = monotonic_ns();
  std::uint64_t now = begun;
  {
    const timed_guard held(lock, no_deadline, now);
    REQUIRE(held);
    std::thread([&] {
      std::uint64_t then = begun;
      const timed_guard late(lock, begun + 20'000'000, then);
      CHECK(!late);
    }).join();
    CHECK(monotonic_ns() - begun >= 20'000'000);
  }
  const timed_guard again(lock, monotonic_ns(), now);
  CHECK(again);
  CHECK(now == begun);
}

TEST_CASE("a thread that waited for a mutex knows the time at which it got it") {
  mutex lock;
  std::uint64_t released = 0;
  std::uint64_t then = monotonic_ns();
  std::uint64_t unused = 0;
  std::thread waiting;
  {
    const timed_guard held(lock, no_deadline, unused);
    waiting = std::thread([&] {
      const timed_guard late(lock, no_deadline, then);
      CHECK(late);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    released = monotonic_ns();
  }
  waiting.join();
  CHECK(then >= released);
}
