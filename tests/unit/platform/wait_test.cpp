// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/wait.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <thread>
#include <vector>

#include "platform/clock.hpp"
#include "support.hpp"

using namespace hmn::platform;

TEST_CASE("wait: another value is seen at once") {
  std::atomic<uint32_t> word{1};
  CHECK(wait_on(word, 0, no_deadline) == wake::changed);
  CHECK(wait_on(word, 0, 0) == wake::changed);
}

TEST_CASE("wait: a deadline is kept, and one gone by does not sleep") {
  std::atomic<uint32_t> word{0};
  CHECK(wait_on(word, 0, 0) == wake::timed_out);
  const uint64_t deadline = monotonic_ns() + 30 * ns_per_ms;
  CHECK(wait_on(word, 0, deadline) == wake::timed_out);
  CHECK(monotonic_ns() >= deadline);
  wake_all(word);
  CHECK(wait_on(word, 0, monotonic_ns() + ns_per_ms) == wake::timed_out);
}

TEST_CASE("wait: what was written before the change is seen after it") {
  std::atomic<uint32_t> word{0};
  int plain = 0;
  std::thread writer([&] {
    sleep_ns(5 * ns_per_ms);
    plain = 42;
    word.store(1, std::memory_order_release);
    wake_one(word);
  });
  CHECK(wait_on(word, 0, no_deadline) == wake::changed);
  CHECK(plain == 42);
  writer.join();
}

TEST_CASE("wait: wake_all wakes every sleeper") {
  std::atomic<uint32_t> word{0};
  std::atomic<int> woken{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 8; ++i) {
    sleepers.emplace_back([&] {
      if (wait_on(word, 0, no_deadline) == wake::changed) ++woken;
    });
  }
  sleep_ns(10 * ns_per_ms);
  word.store(1, std::memory_order_release);
  wake_all(word);
  for (std::thread& sleeper : sleepers) sleeper.join();
  CHECK(woken == 8);
}

TEST_CASE("wait: a signal does not end it") {
  struct sigaction counting {};
  struct sigaction previous {};
  static std::atomic<int> seen{0};
  counting.sa_handler = [](int) { ++seen; };
  sigaction(SIGUSR2, &counting, &previous);
  std::atomic<uint32_t> word{0};
  std::atomic<bool> has_ended{false};
  std::thread sleeper([&] {
    wait_on(word, 0, no_deadline);
    has_ended = true;
  });
  while (seen == 0) {
    sleep_ns(5 * ns_per_ms);
    pthread_kill(sleeper.native_handle(), SIGUSR2);
    sleep_ns(5 * ns_per_ms);
  }
  CHECK_FALSE(has_ended);
  word.store(1, std::memory_order_release);
  wake_one(word);
  sleeper.join();
  sigaction(SIGUSR2, &previous, nullptr);
}

TEST_CASE("wait: a forked child waits for itself") {
  std::atomic<uint32_t> word{0};
  std::thread sleeper([&] { wait_on(word, 0, no_deadline); });
  sleep_ns(10 * ns_per_ms);
  const int status = test::in_child([] {
    std::atomic<uint32_t> own{0};
    const bool is_late = wait_on(own, 0, monotonic_ns() + 5 * ns_per_ms) == wake::timed_out;
    wake_all(own);
    own.store(1);
    return is_late && wait_on(own, 0, no_deadline) == wake::changed ? 0 : 1;
  });
  CHECK(status == 0);
  word.store(1, std::memory_order_release);
  wake_all(word);
  sleeper.join();
}
