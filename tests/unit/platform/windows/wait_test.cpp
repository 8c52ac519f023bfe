// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/wait.hpp"

#include <doctest/doctest.h>

#include <array>
#include <thread>
#include <vector>

#include "platform/clock.hpp"

using namespace hmn::platform;

TEST_CASE("wait: a word that differs is not waited for, one that stays is, until the deadline") {
  std::atomic<uint32_t> word{1};
  CHECK(wait_on(word, 0, 0) == wake::changed);
  CHECK(wait_on(word, 1, 0) == wake::timed_out);
  const uint64_t start = monotonic_ns();
  CHECK(wait_on(word, 1, start + 30 * ns_per_ms) == wake::timed_out);
  CHECK(monotonic_ns() - start >= 30 * ns_per_ms);
}

TEST_CASE("wait: wake_all wakes every sleeper, also of words that share a place") {
  std::array<std::atomic<uint32_t>, 64> words{};
  std::atomic<int> woken{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 8; ++i) {
    sleepers.emplace_back([&, i] {
      if (wait_on(words[static_cast<size_t>(i % 2) * 32], 0, no_deadline) == wake::changed) ++woken;
    });
  }
  for (const size_t at : {size_t{0}, size_t{32}}) {
    words[at].store(1, std::memory_order_release);
    wake_all(words[at]);
  }
  for (std::thread& sleeper : sleepers) sleeper.join();
  CHECK(woken == 8);
}
