// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <memory>

namespace hmn::cli {

// Handler for its lifetime: the first Ctrl-C, SIGTERM or SIGHUP (on Windows Ctrl+C, Ctrl+Break or
// closing the console) requests a stop; a second one ends the program, which may hang in a blocked
// write. Only one may exist at a time.
class stop_request {
 public:
  using clock = std::chrono::steady_clock;

  stop_request();
  ~stop_request();
  stop_request(const stop_request&) = delete;
  stop_request& operator=(const stop_request&) = delete;

  // Returns true as soon as a stop is requested, false at that time.
  bool wait_until(clock::time_point time);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hmn::cli
