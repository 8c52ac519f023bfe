// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/run_account.hpp"

#include <algorithm>

namespace hmn::cli {
namespace {

void add_value(curve& to, std::uint64_t at_ns, const std::optional<double>& value) {
  if (value)
    to.add(at_ns, *value);
  else
    to.add_gap();
}

// That the command has ended explains no value that another failure has prevented before.
void keep_reason(const std::string& why, std::string& to) {
  if (!why.empty() && (to.empty() || why != ended_too_early)) to = why;
}

}  // namespace

std::uint64_t tracked::longest_gap_ns(std::uint64_t end_ns) const {
  return std::max(longest_gap_ns_, std::max(end_ns, known_until_ns_) - known_until_ns_);
}

void tracked::add(std::uint64_t at_ns, const std::optional<std::uint64_t>& bytes, bool is_idle,
                  std::uint64_t age_ns) {
  if (bytes || is_idle) {
    longest_gap_ns_ = longest_gap_ns(at_ns);
    known_until_ns_ = at_ns - std::min(at_ns, age_ns);
  }
  if (!bytes) {
    if (!is_idle) ++gaps_;
    return line_.add_gap();
  }
  ++count_;
  line_.add(at_ns, static_cast<double>(*bytes));
  // Keep exact bytes, as the curve's floating point is inexact above 2^53.
  if (!highest_ || *bytes > highest_->bytes) highest_ = peak{*bytes, at_ns};
}

void run_account::add(const run_sample& sample) {
  const auto at = sample.offset_ns;
  if (sample.host) {
    resident_.add(at, sample.host->resident_bytes, sample.host->why == ended_too_early);
    keep_reason(sample.host->why, why_);
    // Rarely read: absence in between is not a gap.
    if (sample.host->proportional_bytes) proportional_.add(at, sample.host->proportional_bytes);
    group_.add(at, sample.host->group_bytes);
  }
  for (std::size_t i = 0; i < sample.devices.size() && i < devices_.size(); ++i) {
    auto& to = devices_[i];
    const auto& from = sample.devices[i];
    const bool has_ended = from.why == ended_too_early;
    to.command.add(at, from.command_bytes, from.is_asleep || has_ended, from.age_ns);
    to.used.add(at, from.used_bytes, from.is_asleep, from.age_ns);
    add_value(to.load, at, from.busy_percent);
    add_value(to.power, at, from.power_watts);
    if (from.command_bytes && from.is_lower_bound) to.is_lower_bound = true;
    keep_reason(from.why, to.why);
    keep_reason(from.why_used, to.why_used);
  }
}

}  // namespace hmn::cli
