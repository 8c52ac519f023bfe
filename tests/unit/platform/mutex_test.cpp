// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/mutex.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "platform/clock.hpp"

using namespace hmn::platform;

TEST_CASE("mutex: one thread at a time is inside") {
  Mutex inside;
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const std::lock_guard held(inside);
        ++count;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(count == 16000);
}

TEST_CASE("mutex: it cannot be had twice") {
  Mutex inside;
  const std::lock_guard held(inside);
  bool is_had = true;
  std::thread([&] { is_had = inside.try_lock(); }).join();
  CHECK_FALSE(is_had);
}

TEST_CASE("condition: a deadline is kept, and one gone by does not sleep") {
  Mutex inside;
  Condition changed;
  std::unique_lock held(inside);
  CHECK_FALSE(changed.wait_until(held, 0));
  const std::uint64_t deadline = monotonic_ns() + 30 * ns_per_ms;
  while (changed.wait_until(held, deadline)) continue;
  CHECK(monotonic_ns() >= deadline);
  CHECK(held.owns_lock());
}

TEST_CASE("condition: two threads hand a number to and fro") {
  constexpr int rounds = 2000;
  Mutex inside;
  Condition changed;
  int number = 0;
  const auto play = [&](int first) {
    std::unique_lock held(inside);
    for (int i = first; i < 2 * rounds; i += 2) {
      while (number != i) changed.wait_until(held, no_deadline);
      ++number;
      changed.notify_all();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  CHECK(number == 2 * rounds);
}

TEST_CASE("condition: all that wait are woken") {
  Mutex inside;
  Condition changed;
  bool is_open = false;
  int woken = 0;
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 8; ++i) {
    sleepers.emplace_back([&] {
      std::unique_lock held(inside);
      while (!is_open) changed.wait_until(held, no_deadline);
      ++woken;
    });
  }
  sleep_ns(10 * ns_per_ms);
  {
    const std::lock_guard held(inside);
    is_open = true;
    changed.notify_all();
  }
  for (std::thread& sleeper : sleepers) sleeper.join();
  CHECK(woken == 8);
}
