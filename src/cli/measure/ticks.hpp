// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>

namespace hmn::cli {

// Times at whole intervals after the first, without drift. A missed one is skipped.
class ticks {
 public:
  using clock = std::chrono::steady_clock;

  ticks(clock::time_point first, clock::duration interval) : first_(first), interval_(interval) {}

  // Returns the first one after `now`.
  clock::time_point after(clock::time_point now) const {
    if (now < first_) return first_;
    return first_ + ((now - first_) / interval_ + 1) * interval_;
  }

 private:
  clock::time_point first_;
  clock::duration interval_;
};

}  // namespace hmn::cli
