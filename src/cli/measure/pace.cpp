// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/pace.hpp"

#include <algorithm>

namespace hmn::cli {

WriteResult repeat(const Repetition& repetition, StopRequest& stop,
                   const std::function<WriteResult(std::uint64_t ms)>& sample) {
  using Clock = Ticks::Clock;
  using std::chrono::milliseconds;
  const auto start = Clock::now();
  const Ticks schedule(start, repetition.interval);
  const auto end = repetition.duration_ms ? start + milliseconds(*repetition.duration_ms)
                                          : Clock::time_point::max();
  auto last = sample(0);
  bool is_over = repetition.count == 1;
  for (std::uint64_t count = 1; last == WriteResult::written && !is_over; ++count) {
    const auto next = schedule.after(Clock::now());
    is_over = stop.wait_until(std::min(next, end)) || next >= end;
    const auto now = Clock::now();
    const auto elapsed_ms = (now - start) / milliseconds(1);
    last = sample(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(elapsed_ms)));
    // A late one is the last, too.
    is_over = is_over || now >= end || count + 1 == repetition.count;
  }
  return last;
}

}  // namespace hmn::cli
