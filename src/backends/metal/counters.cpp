// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/counters.hpp"

#include <utility>

#include "platform/clock.hpp"

namespace hmn::metal {
namespace {

constexpr std::uint64_t shortest_ns = 10 * platform::ns_per_ms;
constexpr std::uint64_t usual_ns = 100 * platform::ns_per_ms;
constexpr std::uint64_t longest_ns = 60 * platform::ns_per_second;
constexpr double most_watts = 300;

constexpr std::string_view alone = "there is no earlier reading near enough to compare with";

bool is_off(std::string_view state) {
  return state == "OFF" || state == "IDLE" || state == "DOWN";
}

void compare_energy(const counters& before, const counters& now, rates& out) {
  if (!now.joules || !before.joules) {
    out.no_watts = now.odd_unit.empty() ? "macOS counts no energy of this GPU"
                                        : "macOS counts its energy in a unit that is not known";
    return;
  }
  const double watts = (*now.joules - *before.joules) * 1e9 / static_cast<double>(out.window_ns);
  if (watts < 0) {
    out.no_watts = "the energy counter has begun anew";
    out.went_back = true;
  } else if (watts == 0) {
    out.no_watts =
        "its energy counter stands still: too little was used, or macOS does not count "
        "it any more";
  } else if (watts >= most_watts) {
    out.no_watts = "its energy counter has jumped";
  } else {
    out.watts = watts;
  }
}

void compare_states(const counters& before, const counters& now, std::span<const double> clocks,
                    rates& out) {
  out.no_megahertz = "macOS does not tell how long this GPU ran at which clock";
  if (now.states.empty() || clocks.empty() || now.states.size() != before.states.size()) return;
  double ran = 0;
  double weighted = 0;
  std::size_t running = 0;
  for (std::size_t i = 0; i < now.states.size(); ++i) {
    const residency& is = now.states[i];
    if (is.state != before.states[i].state) return;
    if (is.ticks < before.states[i].ticks) {
      out.no_megahertz = "the counters of its clocks have begun anew";
      out.went_back = true;
      return;
    }
    if (is_off(is.state)) continue;
    const auto ticks = static_cast<double>(is.ticks - before.states[i].ticks);
    if (running < clocks.size()) weighted += ticks * clocks[running];
    ran += ticks;
    ++running;
  }
  if (running != clocks.size()) {
    out.no_megahertz = "this GPU has more or fewer states than clocks";
  } else if (ran == 0) {
    out.no_megahertz = "the GPU did not run in that time";
  } else {
    out.megahertz = weighted / ran;
  }
}

}  // namespace

std::optional<double> joules_of(std::int64_t amount, std::string_view unit) {
  while (unit.ends_with(' ')) unit.remove_suffix(1);
  const auto n = static_cast<double>(amount);
  if (amount < 0) return std::nullopt;
  if (unit == "nJ") return n / 1e9;
  if (unit == "uJ") return n / 1e6;
  if (unit == "mJ") return n / 1e3;
  return std::nullopt;
}

rates compare(const counters& before, const counters& now, std::span<const double> clocks) {
  rates out;
  out.no_watts = out.no_megahertz = alone;
  if (before.at_ns == 0 || now.at_ns <= before.at_ns) return out;
  const std::uint64_t window = now.at_ns - before.at_ns;
  if (window < shortest_ns || window > longest_ns) return out;
  out.window_ns = window;
  compare_energy(before, now, out);
  compare_states(before, now, clocks, out);
  return out;
}

rates counter_history::add(counters now, std::span<const double> clocks) {
  const bool is_ripe = now.at_ns - younger_.at_ns >= usual_ns;
  rates out = compare(is_ripe || older_.at_ns == 0 ? younger_ : older_, now, clocks);
  if (out.went_back) clear();
  if (is_ripe || younger_.at_ns == 0) {
    older_ = std::move(younger_);
    younger_ = std::move(now);
  }
  return out;
}

}  // namespace hmn::metal
