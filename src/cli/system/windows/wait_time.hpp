// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <windows.h>

#include <algorithm>
#include <chrono>

namespace hmn::cli {

// Returns the time until then, rounded up and at most a minute, for a repeated wait.
inline DWORD milliseconds_until(std::chrono::steady_clock::time_point time) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now()).count();
  return static_cast<DWORD>(std::clamp<decltype(left)>(left, 0, 60'000));
}

// Returns true once the object is signalled, false at that time.
inline bool wait_for(HANDLE object, std::chrono::steady_clock::time_point time) {
  for (;;) {
    const auto how = WaitForSingleObject(object, milliseconds_until(time));
    if (how != WAIT_TIMEOUT) return true;
    if (std::chrono::steady_clock::now() >= time) return false;
  }
}

}  // namespace hmn::cli
