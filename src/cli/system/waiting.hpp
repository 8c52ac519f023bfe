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
class Interruption {
 public:
  // Calls `stop` in a separate thread, once for each.
  explicit Interruption(std::function<void()> stop);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

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

  // Returns true as soon as a stop is requested, false at that time.
  bool wait_until(Clock::time_point time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Parts of the notice after its beginning, which outlive all notices: a likely reason with advice
// ("; ..."), and what is known without the driver, with the end of the line.
inline constinit std::string_view advice_in_notice;
inline constinit std::string_view end_of_notice = "\n";

inline constexpr std::string_view still_waiting = "hmn: still waiting for a driver";

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
std::thread start_thread(Function run) {
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& why) {
    throw std::system_error(why.code(), "no thread could be started");
  }
}

}  // namespace hmn::cli
