// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <array>
#include <string_view>

namespace hmn::platform {

// A path below a place that the system names, not the environment. Where Windows lies on another
// drive, anybody may make folders on C:. Empty where the system does not tell.
class system_place {
 public:
  enum class below { system_folder, system_drive };

  system_place(below place, std::string_view rest) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }
  [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

 private:
  std::array<char, std::size_t{4} * MAX_PATH> text_{};
  std::size_t size_ = 0;
};

}  // namespace hmn::platform
