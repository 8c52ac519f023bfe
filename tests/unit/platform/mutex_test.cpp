// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/mutex.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "platform/clock.hpp"

using namespace hmn::platform;

TEST_CASE("mutex: one thread at a time holds the lock") {
  Mutex mutex;
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 16000);
}

TEST_CASE("mutex: a locked mutex cannot be locked by another thread") {
  Mutex mutex;
  const std::lock_guard lock(mutex);
  bool is_locked = true;
  std::thread([&] { is_locked = mutex.try_lock(); }).join();
  CHECK_FALSE(is_locked);
}

TEST_CASE("condition: a deadline is kept, and a past one does not sleep") {
  Mutex mutex;
  Condition changed;
  std::unique_lock lock(mutex);
  CHECK_FALSE(changed.wait_until(lock, 0));
  const std::uint64_t deadline = monotonic_ns() + 30 * ns_per_ms;
  while (changed.wait_until(lock, deadline)) continue;
  CHECK(monotonic_ns() >= deadline);
  CHECK(lock.owns_lock());
}

TEST_CASE("condition: two threads pass a number back and forth") {
  constexpr int rounds = 2000;
  Mutex mutex;
  Condition changed;
  int number = 0;
  const auto play = [&](int first) {
    std::unique_lock lock(mutex);
    for (int i = first; i < 2 * rounds; i += 2) {
      while (number != i) changed.wait_until(lock, no_deadline);
      ++number;
      changed.notify_all();
    }
  };
  std::thread partner([&] { play(1); });
  play(0);
  partner.join();
  CHECK(number == 2 * rounds);
}

TEST_CASE("condition: notify_all wakes every waiter") {
  Mutex mutex;
  Condition changed;
  bool is_open = false;
  int woken = 0;
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 8; ++i) {
    sleepers.emplace_back([&] {
      std::unique_lock lock(mutex);
      while (!is_open) changed.wait_until(lock, no_deadline);
      ++woken;
    });
  }
  sleep_ns(10 * ns_per_ms);
  {
    const std::lock_guard lock(mutex);
    is_open = true;
    changed.notify_all();
  }
  for (std::thread& sleeper : sleepers) sleeper.join();
  CHECK(woken == 8);
}
