// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/mutex.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using hmn::platform::mutex;

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
