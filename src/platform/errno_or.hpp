// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// Holds a value, or in error the system's own number (errno on POSIX systems); 0 means value.
template <class T>
struct [[nodiscard]] errno_or {
  T value{};
  int error = 0;

  explicit operator bool() const noexcept { return error == 0; }
};

}  // namespace hmn::platform
