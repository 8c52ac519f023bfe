// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

namespace hmn::cli {

// While it lives: after a second it says once, on standard error, what may be taking so long.
class waiting_notice {
 public:
  waiting_notice();
  ~waiting_notice();
  waiting_notice(const waiting_notice&) = delete;
  waiting_notice& operator=(const waiting_notice&) = delete;

 private:
  void wait();

  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread timer_;
};

}  // namespace hmn::cli
