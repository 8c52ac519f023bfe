// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <windows.h>

#include <cstddef>
#include <vector>

namespace hmn::cli {

// The user that a process runs as.
class token_user {
 public:
  explicit token_user(HANDLE process);

  PSID sid() const;  // null: not known

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace hmn::cli
