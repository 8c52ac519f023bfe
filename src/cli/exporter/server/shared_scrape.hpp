// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "cli/exporter/server.hpp"

namespace hmn::cli {

// A scrape that clients share.
struct finished_scrape {
  std::chrono::steady_clock::time_point begun;
  rendering text;
};

// Reads the machine on a thread of its own, once for all clients that ask meanwhile, and again no
// sooner than the longest age of a shared scrape. A second thread lets no client wait beyond its
// own deadline.
class shared_scrape {
 public:
  using clock = std::chrono::steady_clock;
  using result = std::shared_ptr<const finished_scrape>;  // null: none in time
  using callback = std::function<void(result)>;

  explicit shared_scrape(const server_settings& how);
  shared_scrape(const shared_scrape&) = delete;
  shared_scrape& operator=(const shared_scrape&) = delete;
  ~shared_scrape();

  // Returns one that is young enough; null if there is none.
  result young() const;
  // Calls back once, on another thread, at the deadline at the latest.
  void ask(clock::time_point deadline, callback then);
  // Calls back with null for all that ask from now on; when it returns, all others were called
  // back.
  void stop();

 private:
  struct waiter {
    clock::time_point deadline;
    callback then;
  };
  void work();
  void watch();
  std::list<waiter> take_late(clock::time_point now);
  result read(clock::time_point deadline);

  const server_settings& how_;
  mutable std::mutex mutex_;
  std::condition_variable asked_;
  std::condition_variable waited_;
  std::list<waiter> waiting_;
  result last_;
  bool stopped_ = false;
  std::thread reader_;
  std::thread watch_;
};

}  // namespace hmn::cli
