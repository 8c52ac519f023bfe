// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/waiting_notice.hpp"

#include <windows.h>

#include <atomic>

#include "cli/system/streams.hpp"

namespace hmn::cli {
namespace {

constexpr DWORD patience_ms = 1000;

// Set after the only notice, regardless of the number of waits; one wait at a time.
std::atomic<bool> was_printed{false};
std::atomic<HANDLE> timer{nullptr};

void CALLBACK print_notice(void*, BOOLEAN) {
  if (was_printed.exchange(true)) return;
  write_stream(stream::error, still_waiting);
  write_stream(stream::error, advice_in_notice);
  write_stream(stream::error, end_of_notice);
}

}  // namespace

waiting_notice::waiting_notice() noexcept {
  HANDLE made = nullptr;
  if (CreateTimerQueueTimer(&made, nullptr, print_notice, nullptr, patience_ms, 0,
                            WT_EXECUTEONLYONCE) != 0)
    timer = made;
}

waiting_notice::~waiting_notice() {
  if (const auto made = timer.exchange(nullptr); made != nullptr)
    DeleteTimerQueueTimer(nullptr, made, INVALID_HANDLE_VALUE);
}

}  // namespace hmn::cli
