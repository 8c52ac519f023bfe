// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Conversions between UTF-8 and the system's UTF-16.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hmn::platform {

// Replaces invalid UTF-8 and UTF-16 by U+FFFD.
std::wstring to_wide(std::string_view utf8);
std::string to_utf8(std::wstring_view wide);

// Converts into `out`; returns 0 when it does not fit. The buffer is not terminated.
size_t to_utf8(std::wstring_view wide, std::span<char> out) noexcept;

// Path in the system's form, made without an allocation.
class wide_path {
 public:
  // Appends `rest` unchanged.
  explicit wide_path(std::string_view utf8, std::wstring_view rest = {}) noexcept;
  // Returns errno: ENOENT for a path that depends on the current folder or drive.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const wchar_t* c_str() const noexcept { return text_.data(); }

 private:
  int convert(std::string_view utf8, std::wstring_view rest) noexcept;

  std::array<wchar_t, 4352> text_;
  int error_ = 0;
};

}  // namespace hmn::platform
