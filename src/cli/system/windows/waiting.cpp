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
std::atomic<HANDLE> changed{nullptr};

constexpr UINT control_c_exit = 0xC000013A;

std::mutex gate;
std::function<void(ControlEvent)> called;

// Handles an event. Windows ends the program when the handler of a close event returns; if it does
// not return, other threads have the system's grace period (5 s for a console).
BOOL WINAPI take(DWORD event) {
  const bool interrupts = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  {
    const std::lock_guard<std::mutex> held(gate);
    if (!called) return FALSE;
    called(interrupts ? ControlEvent::interrupt : ControlEvent::close);
  }
  if (!interrupts) Sleep(INFINITE);
  return TRUE;
}

// Registers permanently: removal would wait for a close handler, which never returns.
void listen() {
  static const BOOL is_heard = SetConsoleCtrlHandler(take, TRUE);
  static_cast<void>(is_heard);
}

constexpr DWORD patience_ms = 1000;

// Set after the only notice, regardless of the number of waits; one wait at a time.
std::atomic<bool> was_printed{false};
std::atomic<HANDLE> timer{nullptr};

void CALLBACK print_notice(void*, BOOLEAN) {
  if (was_printed.exchange(true)) return;
  write_stream(Stream::error, still_waiting);
  write_stream(Stream::error, advice_in_notice);
  write_stream(Stream::error, end_of_notice);
}

}  // namespace

bool takes_sequences(HANDLE console, DWORD mode) noexcept {
  if ((mode & sequences) != 0) return true;
  if (SetConsoleMode(console, mode | sequences) == 0) return false;
  changed = console;
  return true;
}

void KeptConsoleMode::restore() noexcept {
  const auto console = changed.exchange(nullptr);
  DWORD mode = 0;
  if (console != nullptr && GetConsoleMode(console, &mode) != 0)
    SetConsoleMode(console, mode & ~sequences);
}

ControlEvents::ControlEvents(std::function<void(ControlEvent)> on) {
  {
    const std::lock_guard<std::mutex> held(gate);
    called = std::move(on);
  }
  listen();
}

ControlEvents::~ControlEvents() {
  const std::lock_guard<std::mutex> held(gate);
  called = nullptr;
}

void end_interrupted() {
  KeptConsoleMode::restore();
  TerminateProcess(GetCurrentProcess(), control_c_exit);
  for (;;) Sleep(INFINITE);
}

struct Interruption::State {
  explicit State(std::function<void()> stop)
      : events([stop = std::move(stop), is_first = true](ControlEvent) mutable {
          // Exit at once: a write may be blocked.
          if (!is_first) end_interrupted();
          is_first = false;
          stop();
        }) {}

  ControlEvents events;
};

Interruption::Interruption(std::function<void()> stop)
    : state_(std::make_unique<State>(std::move(stop))) {}

Interruption::~Interruption() = default;

struct StopRequest::State {
  State()
      : requested(CreateEventW(nullptr, TRUE, FALSE, nullptr)),
        events([this, is_first = true](ControlEvent) mutable {
          if (!is_first) end_interrupted();
          is_first = false;
          SetEvent(requested.get());
        }) {}

  platform::Handle requested;
  ControlEvents events;
};

StopRequest::StopRequest() : state_(std::make_unique<State>()) {}
StopRequest::~StopRequest() = default;

bool StopRequest::wait_until(Clock::time_point time) {
  return wait_for(state_->requested.get(), time);
}

WaitingNotice::WaitingNotice() noexcept {
  HANDLE made = nullptr;
  if (CreateTimerQueueTimer(&made, nullptr, print_notice, nullptr, patience_ms, 0,
                            WT_EXECUTEONLYONCE) != 0)
    timer = made;
}

WaitingNotice::~WaitingNotice() {
  if (const auto made = timer.exchange(nullptr); made != nullptr)
    DeleteTimerQueueTimer(nullptr, made, INVALID_HANDLE_VALUE);
}

}  // namespace hmn::cli
