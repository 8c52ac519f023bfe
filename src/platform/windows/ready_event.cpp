// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/ready_event.hpp"

#include <windows.h>

#include "platform/windows/system_error.hpp"

namespace hmn::platform {
namespace {

HANDLE handle_from(std::int64_t native) noexcept {
  return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(native));
}

}  // namespace

int ready_event::create() noexcept {
  const HANDLE made = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  if (made == nullptr) return last_errno();
  native_ = reinterpret_cast<std::intptr_t>(made);
  return 0;
}

void ready_event::set(bool ready) noexcept {
  if (!exists() || is_set_ == ready) return;
  is_set_ = ready;
  static_cast<void>(ready ? SetEvent(handle_from(native_)) : ResetEvent(handle_from(native_)));
}

void ready_event::close() noexcept {
  if (exists()) CloseHandle(handle_from(native_));
  native_ = -1;
}

}  // namespace hmn::platform
