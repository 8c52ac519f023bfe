// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace hmn::procfs {

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

}  // namespace hmn::procfs
