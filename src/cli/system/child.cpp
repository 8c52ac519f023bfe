// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/child.hpp"

#include <chrono>
#include <new>

namespace hmn::cli {

bool Child::wait() {
  while (!wait_until(Clock::now() + std::chrono::hours(24))) continue;
  return true;
}

void Child::wait_for_end() noexcept {
  while (state_) {
    try {
      if (wait()) return;
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
}

}  // namespace hmn::cli
