// SPDX-License-Identifier: MIT OR Apache-2.0
// Records which files of a folder were opened, to show that a reader does not open a file that
// would wake a sleeping device on a real machine.
#pragma once

#include <string>
#include <vector>

namespace hmn_fake {

// Watches the files directly in `folder`, or the one file, from now on. Linux only.
class OpenWatch {
 public:
  explicit OpenWatch(const std::string& path);
  ~OpenWatch();
  OpenWatch(const OpenWatch&) = delete;
  OpenWatch& operator=(const OpenWatch&) = delete;

  // Names opened since the last asking, in order; an opening of `path` itself is "".
  std::vector<std::string> opened_names();

 private:
  int fd_;
};

}  // namespace hmn_fake
