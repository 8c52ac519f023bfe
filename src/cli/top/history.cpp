// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hmn::cli::top {
namespace {

constexpr float unknown_value = std::numeric_limits<float>::quiet_NaN();

void widen(history::range& to, const history::range& by) {
  to = {std::min(to.low, by.low), std::max(to.high, by.high)};
}

bool is_known(const history::range& of) {
  return !std::isnan(of.low);
}

}  // namespace

void history::ring::add(std::uint64_t at_ns, float value) {
  const auto number = static_cast<std::uint32_t>(number_at(at_ns));
  const bool is_gap = std::isnan(value);
  if (!slots_.empty()) {
    auto& last = slots_[(first_ + slots_.size() - 1) % slots_.size()];
    const bool was_gap = !is_known(last.values);
    // A gap lasts until the next value, and one shorter than a slot is not kept.
    if (is_gap && (was_gap || last.number == number)) return;
    if (last.number == number) {
      if (was_gap)
        last.values = {value, value};
      else
        widen(last.values, {value, value});
      return;
    }
  }
  const slot fresh{number, {value, value}};
  if (slots_.size() < capacity_) return slots_.push_back(fresh);
  slots_[first_] = fresh;
  first_ = (first_ + 1) % capacity_;
}

std::size_t history::ring::position_of(std::uint64_t number) const {
  std::size_t low = 0, high = slots_.size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (at(middle).number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

history::history(std::size_t slots) {
  for (const auto& each : all_spans) rings_.emplace_back(slots, each.ns / slots);
}

void history::add(std::uint64_t at_ns, std::optional<double> value) {
  const auto kept = value ? static_cast<float>(*value) : unknown_value;
  for (auto& each : rings_) each.add(at_ns, kept);
}

std::optional<history::range> history::between(span which, std::uint64_t from_ns,
                                               std::uint64_t to_ns, std::uint64_t hold_ns) const {
  const auto& in = of(which);
  const auto begin = in.position_of(in.number_at(from_ns));
  const auto last = in.number_at(std::max(to_ns, from_ns + 1) - 1);
  std::optional<range> found;
  bool begins_gap = false;
  for (auto i = begin; i < in.size() && in.at(i).number <= last; ++i) {
    const auto& values = in.at(i).values;
    begins_gap = begins_gap || !is_known(values);
    if (!is_known(values)) continue;
    if (found)
      widen(*found, values);
    else
      found = values;
  }
  if (found || begins_gap || begin == 0) return found;
  const auto& before = in.at(begin - 1);
  const auto ends_ns = (before.number + std::uint64_t{1}) * in.width_ns() + hold_ns;
  return is_known(before.values) && from_ns < ends_ns ? std::optional(before.values) : std::nullopt;
}

std::optional<float> history::highest(const time_window& in) const {
  const auto& slots = of(in.of);
  const auto length = facts_of(in.of).ns;
  const auto begin = in.now_ns > length ? in.now_ns - length : 0;
  std::optional<float> found;
  for (auto i = slots.position_of(slots.number_at(begin)); i < slots.size(); ++i)
    if (is_known(slots.at(i).values))
      found = std::max(found.value_or(slots.at(i).values.high), slots.at(i).values.high);
  return found;
}

}  // namespace hmn::cli::top
