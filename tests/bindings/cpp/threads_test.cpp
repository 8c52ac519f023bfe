// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "machine.hpp"

namespace {

template <class Work>
void in_eight_threads(Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
}

}  // namespace

TEST_CASE("eight threads share a context and a snapshot") {
  const hypomnesis::context c = machine("small.json");
  const hypomnesis::snapshot s = c.take();
  std::atomic<int> wrong{0};
  in_eight_threads([&] {
    for (int i = 0; i < 200; ++i) {
      if (c.pool(0).free_bytes != 13421772800U) ++wrong;
      if (c.take().device(0).name != "Small GPU") ++wrong;
      if (s.pool(0).free_bytes != 13421772800U) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a context and a snapshot are closed while eight threads use them") {
  for (int round = 0; round < 20; ++round) {
    hypomnesis::context c = machine("small.json");
    hypomnesis::snapshot s = c.take();
    std::atomic<int> started{0}, refused{0}, wrong{0};
    std::thread closer([&] {
      while (started < 8) std::this_thread::yield();
      c.close();
      s.close();
    });
    in_eight_threads([&] {
      ++started;
      try {
        for (;;) {
          if (c.pool(0).free_bytes != 13421772800U) ++wrong;
          if (s.json().empty()) ++wrong;
        }
      } catch (const hypomnesis::closed&) {
        ++refused;
      }
    });
    closer.join();
    CHECK(refused == 8);
    CHECK(wrong == 0);
  }
}
