// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "machine.hpp"

namespace {

template <class Work>
void run_in_eight_threads(Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

// Forks children while threads run `work`; returns how many children complete it.
template <class Work>
int count_returned(int children, Work work) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) work();
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
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return returned;
}

}  // namespace

TEST_CASE("cancel() ends the wait of another thread and blocks readings until resume()") {
  const hypomnesis::context context = open_machine("stuck.json");
  REQUIRE(context.scan().count == 1);
  std::atomic<hypomnesis::status_code> status{hypomnesis::status_code::ok};
  std::thread reader([&] {
    try {
      context.pool(0);
    } catch (const hypomnesis::error& e) {
      status = e.status();
    }
  });
  context.cancel();
  reader.join();
  CHECK(status == hypomnesis::status_code::cancelled);
  CHECK_THROWS_AS(context.scan(), hypomnesis::error);
  CHECK(context.own_memory().resident_bytes);
  hypomnesis::snapshot_options options;
  options.deadline = std::chrono::milliseconds(1);
  CHECK_THROWS_AS(context.take(options), hypomnesis::error);
  context.resume();
  CHECK(context.take(options).info().device_count == 1);
}

TEST_CASE("eight threads share a context and a snapshot") {
  const hypomnesis::context context = open_machine("small.json");
  const hypomnesis::snapshot snapshot = context.take();
  std::atomic<int> mismatches{0};
  run_in_eight_threads([&] {
    for (int i = 0; i < 200; ++i) {
      if (context.pool(0).free_bytes != 13421772800U) ++mismatches;
      if (context.take().device(0).name != "Small GPU") ++mismatches;
      if (snapshot.pool(0).free_bytes != 13421772800U) ++mismatches;
    }
  });
  CHECK(mismatches == 0);
}

TEST_CASE("closing a context and a snapshot stops the eight threads that use them") {
  for (int round = 0; round < 20; ++round) {
    hypomnesis::context context = open_machine("small.json");
    hypomnesis::snapshot snapshot = context.take();
    std::atomic<int> ready{0}, refusals{0}, mismatches{0};
    std::thread closer([&] {
      while (ready < 8) std::this_thread::yield();
      context.close();
      snapshot.close();
    });
    run_in_eight_threads([&] {
      ++ready;
      try {
        for (;;) {
          if (context.pool(0).free_bytes != 13421772800U) ++mismatches;
          if (snapshot.json().empty()) ++mismatches;
        }
      } catch (const hypomnesis::closed&) {
        ++refusals;
      }
    });
    closer.join();
    CHECK(refusals == 8);
    CHECK(mismatches == 0);
  }
}

TEST_CASE("a child forked while other threads make calls can make them too") {
  const hypomnesis::context context = open_machine("small.json");
  const hypomnesis::snapshot snapshot = context.take();
  const hypomnesis::tracker tracker;
  CHECK(count_returned(100, [&] { snapshot.info(); }) == 100);
  CHECK(count_returned(100, [&] { tracker.info(); }) == 100);
  CHECK(count_returned(100, [&] {
          try {
            context.own_memory();
          } catch (const hypomnesis::error&) {  // in the child: status forked
          }
        }) == 100);
}
