// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace hmn::platform {

// Owner of a handle; both of the system's invalid values become nullptr.
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(HANDLE h) noexcept : value_(h == INVALID_HANDLE_VALUE ? nullptr : h) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    Handle before(std::move(other));
    std::swap(value_, before.value_);
    return *this;
  }
  ~Handle() { close(); }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  [[nodiscard]] HANDLE get() const noexcept { return value_; }
  [[nodiscard]] HANDLE release() noexcept { return std::exchange(value_, nullptr); }
  void close() noexcept {
    if (value_ != nullptr) CloseHandle(std::exchange(value_, nullptr));
  }

 private:
  HANDLE value_ = nullptr;
};

// Replaces invalid UTF-8 and UTF-16 by U+FFFD.
std::wstring to_wide(std::string_view utf8);
std::string to_utf8(std::wstring_view wide);

// Converts into `out`; returns 0 when it does not fit. The buffer is not terminated.
size_t to_utf8(std::wstring_view wide, std::span<char> out) noexcept;

// Path in the system's form, without an allocation.
class WidePath {
 public:
  // Appends `rest` unchanged.
  explicit WidePath(std::string_view utf8, std::wstring_view rest = {}) noexcept;
  // Returns errno: ENOENT for a path that depends on the current folder or drive.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const wchar_t* c_str() const noexcept { return text_.data(); }

 private:
  int convert(std::string_view utf8, std::wstring_view rest) noexcept;

  std::array<wchar_t, 4352> text_;
  int error_ = 0;
};

// Maps a number of GetLastError to the errno that this folder's functions return; EIO for one
// without a counterpart.
int translate_error(unsigned long error) noexcept;
int last_errno() noexcept;

}  // namespace hmn::platform
