// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/turn.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "platform/clock.hpp"

using hmn::platform::monotonic_ns;
using hmn::platform::no_deadline;
using hmn::platform::turn;
using hmn::platform::turns;

TEST_CASE("a turn that is waited for is given up at the deadline, and can be had afterwards") {
  turns lock;
  const std::uint64_t begun = monotonic_ns();
  std::uint64_t now = begun;
  {
    const turn held(lock, no_deadline, now);
    REQUIRE(held);
    std::thread([&] {
      std::uint64_t then = begun;
      const turn late(lock, begun + 20'000'000, then);
      CHECK(!late);
    }).join();
    CHECK(monotonic_ns() - begun >= 20'000'000);
  }
  const turn again(lock, monotonic_ns(), now);
  CHECK(again);
  CHECK(now == begun);
}

TEST_CASE("a thread that waited for its turn knows the time at which it got it") {
  turns lock;
  std::uint64_t released = 0;
  std::uint64_t then = monotonic_ns();
  std::uint64_t unused = 0;
  std::thread waiting;
  {
    const turn held(lock, no_deadline, unused);
    waiting = std::thread([&] {
      const turn late(lock, no_deadline, then);
      CHECK(late);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    released = monotonic_ns();
  }
  waiting.join();
  CHECK(then >= released);
}

TEST_CASE("a thread that does not need its turn any more leaves, and the others go on") {
  turns lock;
  std::atomic<bool> is_done{false};
  std::atomic<int> needless{0};
  std::atomic<int> held{0};
  std::vector<std::thread> threads;
  {
    std::uint64_t now = 0;
    const turn first(lock, no_deadline, now);
    REQUIRE(first);
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, needs = t % 2 == 0] {
        std::uint64_t then = 0;
        const turn mine(lock, no_deadline, then, [&] { return !needs && is_done.load(); });
        (mine.is_needless() ? needless : held) += 1;
        CHECK(static_cast<bool>(mine) == needs);
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_done = true;
  }
  for (std::thread& t : threads) t.join();
  CHECK(needless == 4);
  CHECK(held == 4);
}

TEST_CASE("of many that wait each looks again before its deadline") {
  turns lock;
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  // Without a pause, so that others wait for most turns.
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (!is_over) {
        std::uint64_t then = monotonic_ns();
        const turn mine(lock, no_deadline, then);
        while (monotonic_ns() - then < 4'000) continue;
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  constexpr int count = 64;
  std::atomic<int> late{0};
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&] {
      int looks = 0;
      std::uint64_t then = monotonic_ns();
      const turn mine(lock, then + 5'000'000, then, [&] { return ++looks > 1; });
      if (!mine && !mine.is_needless()) ++late;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  is_over = true;
  for (std::thread& t : threads) t.join();
  // One that was not scheduled for long is late.
  CHECK(late < count / 2);
}

TEST_CASE("those that wait go on where the others have stopped") {
  turns lock;
  constexpr int count = 16;
  std::atomic<int> turns_taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2'000; ++i) {
        std::uint64_t then = monotonic_ns();
        const turn mine(lock, no_deadline, then);
        if (mine) ++turns_taken;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(turns_taken == count * 2'000);
}
