// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>

namespace hmn::cli {

// Returns the time until then for poll(), rounded up and at most a minute, for a repeated wait.
inline int milliseconds_until(std::chrono::steady_clock::time_point time) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, 60'000));
}

}  // namespace hmn::cli
