// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <string>

#include "platform/library.hpp"

namespace test {

// Of a file in this program's folder.
inline std::string beside(const char* name) {
  std::array<char, hmn::platform::longest_path> buffer;
  return std::string(hmn::platform::own_folder(buffer)) + "\\" + name;
}

}  // namespace test
