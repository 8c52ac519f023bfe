// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <string>

#include "platform/library.hpp"

namespace test {

// Returns the path of a file in this program's folder.
inline std::string path_in_own_folder(const char* name) {
  std::array<char, hmn::platform::max_path_size> buffer;
  return std::string(hmn::platform::own_folder(buffer)) + "\\" + name;
}

}  // namespace test
