// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <memory>

#include "cli/system/windows/api.hpp"

namespace hmn::cli {

struct close_handle {
  using pointer = HANDLE;
  void operator()(HANDLE open) const noexcept {
    if (open != INVALID_HANDLE_VALUE) CloseHandle(open);
  }
};
// Null where it could not be opened; a file then is INVALID_HANDLE_VALUE.
using handle = std::unique_ptr<void, close_handle>;

}  // namespace hmn::cli
