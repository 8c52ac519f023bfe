// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/linux/supervisor.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "platform/clock.hpp"

using namespace hmn::platform;

TEST_CASE("futex: a changed value is noticed at once") {
  std::atomic<uint32_t> word{1};
  CHECK(wait_on(word, 0, no_deadline) == WakeReason::changed);
  CHECK(wait_on(word, 0, 0) == WakeReason::changed);
}

TEST_CASE("futex: a deadline is kept, and a past one does not sleep") {
  std::atomic<uint32_t> word{0};
  CHECK(wait_on(word, 0, 0) == WakeReason::timed_out);
  const uint64_t deadline = monotonic_ns() + 30 * ns_per_ms;
  CHECK(wait_on(word, 0, deadline) == WakeReason::timed_out);
  CHECK(monotonic_ns() >= deadline);
  wake_all(word);
  CHECK(wait_on(word, 0, monotonic_ns() + ns_per_ms) == WakeReason::timed_out);
}

TEST_CASE("futex: wake_all wakes every sleeper, which sees earlier writes") {
  std::atomic<uint32_t> word{0};
  int plain = 0;
  std::atomic<int> woken{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 8; ++i) {
    sleepers.emplace_back([&] {
      if (wait_on(word, 0, no_deadline) == WakeReason::changed && plain == 42) ++woken;
    });
  }
  sleep_ns(10 * ns_per_ms);
  plain = 42;
  word.store(1, std::memory_order_release);
  wake_all(word);
  for (std::thread& sleeper : sleepers) sleeper.join();
  CHECK(woken == 8);
}
