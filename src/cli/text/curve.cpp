// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/curve.hpp"

#include <algorithm>

namespace hmn::cli {

void curve::add(std::uint64_t at_ns, double value) {
  if (points_.empty() || value > highest_) {
    highest_ = value;
    highest_at_ns_ = at_ns;
  }
  lowest_ = points_.empty() ? value : std::min(lowest_, value);
  const bool joins = !points_.empty() && !gap_ && slot_of(points_.back().at_ns) == slot_of(at_ns);
  if (joins) {
    auto& last = points_.back();
    last = {at_ns, std::min(last.low, value), std::max(last.high, value), last.after_gap};
    return;
  }
  points_.push_back({at_ns, value, value, gap_ && !points_.empty()});
  gap_ = false;
  while (points_.size() > capacity_) halve();
}

void curve::halve() {
  width_ns_ *= 2;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    auto& last = points_[kept];
    const auto& next = points_[i];
    // Omit a gap that is narrower than a point: no value is lost.
    if (slot_of(last.at_ns) == slot_of(next.at_ns))
      last = {next.at_ns, std::min(last.low, next.low), std::max(last.high, next.high),
              last.after_gap};
    else
      points_[++kept] = next;
  }
  points_.resize(kept + 1);
}

}  // namespace hmn::cli
