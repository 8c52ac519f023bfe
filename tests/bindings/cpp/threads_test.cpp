// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

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

// How many of the children that are forked while threads run `work` come back from it.
template <class Work>
int returned_of(int children, Work work) {
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!enough) work();
    });
  }
  int returned = 0;
  for (int i = 0; i < children; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      work();
      _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) == child && status == 0) ++returned;
    if (returned <= i) break;
  }
  enough = true;
  for (std::thread& t : threads) t.join();
  return returned;
}

}  // namespace

TEST_CASE("cancel ends the wait of another thread, until resume") {
  const hypomnesis::context c = machine("stuck.json");
  REQUIRE(c.scan().count == 1);
  std::atomic<hypomnesis::status_code> status{hypomnesis::status_code::ok};
  std::thread waiting([&] {
    try {
      c.pool(0);
    } catch (const hypomnesis::error& e) {
      status = e.status();
    }
  });
  c.cancel();
  waiting.join();
  CHECK(status == hypomnesis::status_code::cancelled);
  CHECK_THROWS_AS(c.scan(), hypomnesis::error);
  CHECK(c.own_memory().resident_bytes);
  hypomnesis::snapshot_options briefly;
  briefly.deadline = std::chrono::milliseconds(1);
  CHECK_THROWS_AS(c.take(briefly), hypomnesis::error);
  c.resume();
  CHECK(c.take(briefly).info().device_count == 1);
}

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

TEST_CASE("a child that is forked while other threads make calls makes them too") {
  const hypomnesis::context c = machine("small.json");
  const hypomnesis::snapshot s = c.take();
  const hypomnesis::tracker t;
  CHECK(returned_of(100, [&] { s.info(); }) == 100);
  CHECK(returned_of(100, [&] { t.info(); }) == 100);
  CHECK(returned_of(100, [&] {
          try {
            c.own_memory();
          } catch (const hypomnesis::error&) {  // in the child: status forked
          }
        }) == 100);
}
