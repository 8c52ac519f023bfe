// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/pace.hpp"

#include <algorithm>

namespace hmn::cli {

WriteResult repeat(const Repetition& asked, StopRequest& stop,
                   const std::function<WriteResult(std::uint64_t ms)>& sample) {
  using Clock = Ticks::Clock;
  using std::chrono::milliseconds;
  const auto begun = Clock::now();
  const Ticks schedule(begun, asked.interval);
  const auto end =
      asked.duration_ms ? begun + milliseconds(*asked.duration_ms) : Clock::time_point::max();
  auto last = sample(0);
  bool over = asked.count == 1;
  for (std::uint64_t taken = 1; last == WriteResult::written && !over; ++taken) {
    const auto next = schedule.after(Clock::now());
    over = stop.wait_until(std::min(next, end)) || next >= end;
    const auto now = Clock::now();
    const auto since = (now - begun) / milliseconds(1);
    last = sample(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(since)));
    // A late one is the last, too.
    over = over || now >= end || taken + 1 == asked.count;
  }
  return last;
}

}  // namespace hmn::cli
