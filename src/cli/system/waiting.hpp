// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace hmn::cli {

// Keeps a driver's library that calls exit() from ending hmn without an answer: from now on such a
// call waits for ever, as one that hangs, and is named on standard error. Comes after what has a
// destructor at exit.
void outlive_driver_exits() noexcept;
// Ends hmn at once, from any thread.
[[noreturn]] void end_now(int code) noexcept;

// Handler of Ctrl-C, SIGTERM and SIGHUP (Ctrl+Break on Windows) for its lifetime: the first one
// stops the current work instead of ending the program, a second one ends the program.
class interruption {
 public:
  // Calls `stop` in a separate thread, once for each.
  explicit interruption(std::function<void()> stop);
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

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

// Parts of the notice after its beginning, which outlive all notices: a likely reason with advice
// ("; ..."), and what is known without the driver, with the end of the line.
inline constinit std::string_view advice_in_notice;
inline constinit std::string_view end_of_notice = "\n";

inline constexpr std::string_view still_waiting = "hmn: still waiting for a driver";

// Prints once on standard error, after a second, that hmn waits for a driver.
class waiting_notice {
 public:
  waiting_notice() noexcept;
  ~waiting_notice();
  waiting_notice(const waiting_notice&) = delete;
  waiting_notice& operator=(const waiting_notice&) = delete;
};

// Starts a thread. Throws std::system_error, which says what could not be done.
template <class Function>
std::thread start_thread(Function run) {
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& why) {
    throw std::system_error(why.code(), "no thread could be started");
  }
}

}  // namespace hmn::cli
