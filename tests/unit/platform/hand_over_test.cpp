// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <thread>

#include "platform/wait.hpp"

using namespace hmn::platform;

TEST_CASE("wait: two threads hand a word to and fro") {
  constexpr uint32_t rounds = 2000;
  std::atomic<uint32_t> word{0};
  uint32_t plain = 0;
  std::thread other([&] {
    for (uint32_t i = 0; i < rounds; ++i) {
      wait_on(word, 2 * i, no_deadline);
      ++plain;
      word.store(2 * i + 2, std::memory_order_release);
      wake_one(word);
    }
  });
  for (uint32_t i = 0; i < rounds; ++i) {
    ++plain;
    word.store(2 * i + 1, std::memory_order_release);
    wake_one(word);
    wait_on(word, 2 * i + 1, no_deadline);
  }
  other.join();
  CHECK(plain == 2 * rounds);
}
