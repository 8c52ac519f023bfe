// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/failure.hpp"

namespace hmn::os {

// A file of a proc tree, without an allocation. A name that does not fit is empty, so that opening
// it fails.
class proc_path {
 public:
  // `who`: "self", "thread-self", "123", "123/task/456"; either may be empty.
  proc_path(std::string_view root, std::string_view who, std::string_view file) noexcept;

  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }

 private:
  void append(std::string_view part) noexcept;

  bool fits_ = true;
  std::size_t length_ = 0;
  std::array<char, 4352> bytes_;  // PATH_MAX and what stands below the root
};

// A pid as the name of its folder.
class pid_name {
 public:
  explicit pid_name(std::uint32_t pid) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), length_}; }

 private:
  std::array<char, 10> bytes_;
  std::size_t length_;
};

// Why a file of a proc tree could not be read, ENOENT and ESRCH aside.
failure unreadable(int error, const proc_path& path);
failure nonsense(const proc_path& path, std::string_view what);

}  // namespace hmn::os
