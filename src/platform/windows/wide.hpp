// SPDX-License-Identifier: MIT OR Apache-2.0
//
// UTF-8 at our boundary, UTF-16 at the system's.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hmn::platform {

// What is not UTF-8, or no UTF-16, becomes U+FFFD.
std::wstring to_wide(std::string_view utf8);
std::string to_utf8(std::wstring_view wide);

// The same into `out`; 0 when it does not fit. The buffer is not terminated.
size_t to_utf8(std::wstring_view wide, std::span<char> out) noexcept;

// A path as the system takes it, made without an allocation.
class wide_path {
 public:
  // `rest`: to be appended as it is.
  explicit wide_path(std::string_view utf8, std::wstring_view rest = {}) noexcept;
  // errno: ENOENT for a path that depends on the current folder or drive.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const wchar_t* c_str() const noexcept { return text_.data(); }

 private:
  int convert(std::string_view utf8, std::wstring_view rest) noexcept;

  std::array<wchar_t, 4352> text_;
  int error_ = 0;
};

}  // namespace hmn::platform
