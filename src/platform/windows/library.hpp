// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <array>
#include <string_view>

namespace hmn::platform {

// Path below a system folder, taken from the system rather than from the environment: where Windows
// is on another drive, any user may create folders on C:. Empty if unknown.
class SystemPath {
 public:
  enum class Base { system_folder, system_drive };

  SystemPath(Base base, std::string_view rest) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }
  [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

 private:
  std::array<char, std::size_t{4} * MAX_PATH> text_{};
  std::size_t size_ = 0;
};

}  // namespace hmn::platform
