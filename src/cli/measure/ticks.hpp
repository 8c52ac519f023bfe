// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>

namespace hmn::cli {

// Times that lie whole intervals after the first, so that they never drift. One that has passed is
// left out.
class ticks {
 public:
  using clock = std::chrono::steady_clock;

  ticks(clock::time_point first, clock::duration interval) : first_(first), interval_(interval) {}

  // The first that is after `now`.
  clock::time_point after(clock::time_point now) const {
    if (now < first_) return first_;
    return first_ + ((now - first_) / interval_ + 1) * interval_;
  }

 private:
  clock::time_point first_;
  clock::duration interval_;
};

}  // namespace hmn::cli
