// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/spill_history.hpp"

#include <algorithm>

namespace hmn {
namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void raise_peak(std::optional<std::uint64_t>& peak, std::optional<std::uint64_t> value) noexcept {
  if (value) peak = std::max(peak.value_or(0), *value);
}

// Tests against 85 % of the limit by default; a limit below 100 bytes disables the rule.
bool is_full(const spill_sample& s, std::uint64_t threshold) noexcept {
  if (threshold == 0) threshold = s.limit.value_or(0) / 100 * 85;
  return threshold != 0 && s.dedicated >= threshold;
}

}  // namespace

std::uint32_t spill_history::rules_of(const spill_sample& s) const noexcept {
  std::uint32_t rules = 0;
  if (is_full(s, by_.dedicated) && s.shared >= saturating_sum(all_.baseline_shared, by_.growth)) {
    rules |= spill_rule::shared;
  }
  if (s.evicted && *s.evicted >= saturating_sum(*all_.baseline_evicted, by_.growth)) {
    rules |= spill_rule::evicted;
  }
  return rules;
}

void spill_history::note(const spill_sample& s) {
  if (all_.observations++ == 0) all_.baseline_shared = s.shared;
  if (!all_.baseline_evicted && s.is_idle) all_.baseline_evicted = 0;
  if (!all_.baseline_evicted) all_.baseline_evicted = s.evicted;
  if (s.limit) all_.limit = s.limit;
  all_.last = s;
  all_.peak_dedicated = std::max(all_.peak_dedicated, s.dedicated);
  all_.peak_shared = std::max(all_.peak_shared, s.shared);
  raise_peak(all_.peak_evicted, s.evicted);
}

void spill_history::open(const spill_sample& s, const spill_label& label) {
  spill_episode fresh;
  fresh.start_ns = fresh.last_ns = s.monotonic_ns;
  fresh.start_label = label;
  if (kept_.size() < by_.capacity) {
    kept_.push_back(fresh);
  } else {
    kept_[place_of(all_.episodes)] = fresh;
  }
  if (all_.episodes++ == 0) all_.first_label = label;
}

void spill_history::extend(const spill_sample& s) {
  spill_episode& e = last();
  const std::uint64_t now = std::max(s.monotonic_ns, e.last_ns);
  all_.total_ns += now - e.last_ns;
  e.last_ns = now;
  e.rules |= all_.rules;
  ++e.observations;
  e.peak_shared = std::max(e.peak_shared, s.shared);
  raise_peak(e.peak_evicted, s.evicted);
  if (e.duration_ns() <= all_.longest_ns) return;
  all_.longest_ns = e.duration_ns();
  all_.longest = all_.episodes - 1;
}

void spill_history::add(const spill_sample& s, const spill_label& label) {
  const bool was_open = all_.rules != 0;
  // Reserve first, the only step that can fail.
  if (kept_.size() == kept_.capacity()) kept_.reserve(std::max(std::size_t{8}, 2 * kept_.size()));
  note(s);
  all_.rules = rules_of(s);
  if (all_.rules != 0) {
    if (!was_open) open(s, label);
    extend(s);
  } else if (was_open) {
    last().end_ns = std::max(s.monotonic_ns, last().last_ns);
    last().end_label = label;
  }
}

const spill_episode* spill_history::episode(std::uint64_t number) const noexcept {
  if (number >= all_.episodes || number < first_kept()) return nullptr;
  return &kept_[place_of(number)];
}

}  // namespace hmn
