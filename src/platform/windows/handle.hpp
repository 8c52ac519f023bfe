// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <utility>

namespace hmn::platform {

// Owner of a handle; both of the system's invalid values become nullptr.
class handle {
 public:
  handle() noexcept = default;
  explicit handle(HANDLE h) noexcept : value_(h == INVALID_HANDLE_VALUE ? nullptr : h) {}
  handle(handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  handle& operator=(handle&& other) noexcept {
    handle before(std::move(other));
    std::swap(value_, before.value_);
    return *this;
  }
  ~handle() { close(); }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  [[nodiscard]] HANDLE get() const noexcept { return value_; }
  [[nodiscard]] HANDLE release() noexcept { return std::exchange(value_, nullptr); }
  void close() noexcept {
    if (value_ != nullptr) CloseHandle(std::exchange(value_, nullptr));
  }

 private:
  HANDLE value_ = nullptr;
};

}  // namespace hmn::platform
