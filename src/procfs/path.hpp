// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace hmn::procfs {

// Path of a file in a proc tree, without an allocation. A path that does not fit is empty, so that
// opening it fails.
class proc_path {
 public:
  // Takes "self", "thread-self", "123" or "123/task/456" in `who`; either part may be empty.
  proc_path(std::string_view root, std::string_view who, std::string_view file) noexcept;

  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }
  // Changes the file and returns the path.
  const char* to(std::string_view file) noexcept;

 private:
  void add(std::string_view part) noexcept;

  bool fits_ = true;
  std::size_t length_ = 0;
  std::size_t folder_ = 0;        // length without the file
  std::array<char, 4352> bytes_;  // PATH_MAX and the path below the root
};

}  // namespace hmn::procfs
