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
// call blocks forever, like a hung one, and is reported on standard error. Call this after
// everything that has a destructor at exit.
void block_driver_exits() noexcept;
// Ends hmn at once, from any thread.
[[noreturn]] void exit_now(int code) noexcept;

// Handler of Ctrl-C, SIGTERM and SIGHUP (Ctrl+Break on Windows) for its lifetime: the first one
// stops the current work instead of ending the program, a second one ends the program.
class InterruptHandler {
 public:
  // Calls `stop` in a separate thread, once per signal.
  explicit InterruptHandler(std::function<void()> stop);
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Handler for its lifetime: the first Ctrl-C, SIGTERM or SIGHUP (on Windows Ctrl+C, Ctrl+Break or
// closing the console) requests a stop; a second one ends the program, which may hang in a blocked
// write. Only one may exist at a time.
class StopRequest {
 public:
  using Clock = std::chrono::steady_clock;

  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  // Returns true as soon as a stop is requested, false at the given time.
  bool wait_until(Clock::time_point time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Parts of the notice after its beginning, which outlive all notices: a likely reason with advice
// ("; ..."), and what is known without the driver, with the end of the line.
inline constinit std::string_view notice_advice;
inline constinit std::string_view notice_end = "\n";

inline constexpr std::string_view notice_start = "hmn: still waiting for a driver";

// Prints once on standard error, after a second, that hmn waits for a driver.
class WaitingNotice {
 public:
  WaitingNotice() noexcept;
  ~WaitingNotice();
  WaitingNotice(const WaitingNotice&) = delete;
  WaitingNotice& operator=(const WaitingNotice&) = delete;
};

// Starts a thread. Throws std::system_error, which says what could not be done.
template <class Function>
std::thread start_thread(Function function) {
  try {
    return std::thread(std::move(function));
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(), "no thread could be started");
  }
}

}  // namespace hmn::cli
