// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>

#include <filesystem>

#include "../support.hpp"

namespace test {

std::set<int> open_descriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/fd")) {
    found.insert(std::stoi(entry.path().filename().string()));
  }
  std::erase_if(found, [](int number) { return fcntl(number, F_GETFD) < 0; });
  return found;
}

}  // namespace test
