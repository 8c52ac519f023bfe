// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/waiting.hpp"

#include <windows.h>

#include <atomic>
#include <mutex>

#include "cli/system/streams.hpp"
#include "cli/system/waiting.hpp"
#include "platform/windows/system.hpp"

namespace hmn::cli {
namespace {

constexpr DWORD sequences = 0x0004;  // ENABLE_VIRTUAL_TERMINAL_PROCESSING
std::atomic<HANDLE> changed_console{nullptr};

constexpr UINT control_c_exit = 0xC000013A;

std::mutex handler_mutex;
std::function<void(ControlEvent)> handler;

// Handles an event. Windows ends the program when the handler of a close event returns; if it does
// not return, other threads have the system's grace period (5 s for a console).
BOOL WINAPI handle_event(DWORD event) {
  const bool is_interrupt = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  {
    const std::lock_guard<std::mutex> lock(handler_mutex);
    if (!handler) return FALSE;
    handler(is_interrupt ? ControlEvent::interrupt : ControlEvent::close);
  }
  if (!is_interrupt) Sleep(INFINITE);
  return TRUE;
}

// Registers permanently: removal would wait for a close handler, which never returns.
void register_handler() {
  static const BOOL is_registered = SetConsoleCtrlHandler(handle_event, TRUE);
  static_cast<void>(is_registered);
}

constexpr DWORD notice_delay_ms = 1000;

// Set after the only notice, regardless of the number of waits; one wait at a time.
std::atomic<bool> was_printed{false};
std::atomic<HANDLE> timer{nullptr};

void CALLBACK print_notice(void*, BOOLEAN) {
  if (was_printed.exchange(true)) return;
  write_stream(Stream::error, notice_start);
  write_stream(Stream::error, notice_advice);
  write_stream(Stream::error, notice_end);
}

}  // namespace

bool enable_sequences(HANDLE console, DWORD mode) noexcept {
  if ((mode & sequences) != 0) return true;
  if (SetConsoleMode(console, mode | sequences) == 0) return false;
  changed_console = console;
  return true;
}

void ConsoleModeGuard::restore() noexcept {
  const auto console = changed_console.exchange(nullptr);
  DWORD mode = 0;
  if (console != nullptr && GetConsoleMode(console, &mode) != 0)
    SetConsoleMode(console, mode & ~sequences);
}

ControlEvents::ControlEvents(std::function<void(ControlEvent)> callback) {
  {
    const std::lock_guard<std::mutex> lock(handler_mutex);
    handler = std::move(callback);
  }
  register_handler();
}

ControlEvents::~ControlEvents() {
  const std::lock_guard<std::mutex> lock(handler_mutex);
  handler = nullptr;
}

void end_interrupted() {
  ConsoleModeGuard::restore();
  TerminateProcess(GetCurrentProcess(), control_c_exit);
  for (;;) Sleep(INFINITE);
}

struct InterruptHandler::State {
  explicit State(std::function<void()> stop)
      : events([stop = std::move(stop), is_first = true](ControlEvent) mutable {
          // Exit at once: a write may be blocked.
          if (!is_first) end_interrupted();
          is_first = false;
          stop();
        }) {}

  ControlEvents events;
};

InterruptHandler::InterruptHandler(std::function<void()> stop)
    : state_(std::make_unique<State>(std::move(stop))) {}

InterruptHandler::~InterruptHandler() = default;

struct StopRequest::State {
  State()
      : stop_event(CreateEventW(nullptr, TRUE, FALSE, nullptr)),
        events([this, is_first = true](ControlEvent) mutable {
          if (!is_first) end_interrupted();
          is_first = false;
          SetEvent(stop_event.get());
        }) {}

  platform::Handle stop_event;
  ControlEvents events;
};

StopRequest::StopRequest() : state_(std::make_unique<State>()) {}
StopRequest::~StopRequest() = default;

bool StopRequest::wait_until(Clock::time_point time) {
  return wait_for(state_->stop_event.get(), time);
}

WaitingNotice::WaitingNotice() noexcept {
  HANDLE new_timer = nullptr;
  if (CreateTimerQueueTimer(&new_timer, nullptr, print_notice, nullptr, notice_delay_ms, 0,
                            WT_EXECUTEONLYONCE) != 0)
    timer = new_timer;
}

WaitingNotice::~WaitingNotice() {
  if (const auto pending_timer = timer.exchange(nullptr); pending_timer != nullptr)
    DeleteTimerQueueTimer(nullptr, pending_timer, INVALID_HANDLE_VALUE);
}

}  // namespace hmn::cli
