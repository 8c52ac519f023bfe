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

void compare_energy(const Counters& before, const Counters& now, Rates& out) {
  if (!now.joules || !before.joules) {
    out.no_watts = now.odd_unit.empty() ? "macOS counts no energy of this GPU"
                                        : "macOS counts its energy in a unit that is not known";
    return;
  }
  const double watts = (*now.joules - *before.joules) * 1e9 / static_cast<double>(out.window_ns);
  if (watts < 0) {
    out.no_watts = "the energy counter has started again";
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

void compare_states(const Counters& before, const Counters& now, std::span<const double> clocks,
                    Rates& out) {
  out.no_megahertz = "macOS does not report the time at each clock of this GPU";
  if (now.states.empty() || clocks.empty() || now.states.size() != before.states.size()) return;
  double ran = 0;
  double weighted = 0;
  std::size_t running = 0;
  for (std::size_t i = 0; i < now.states.size(); ++i) {
    const Residency& is = now.states[i];
    if (is.state != before.states[i].state) return;
    if (is.ticks < before.states[i].ticks) {
      out.no_megahertz = "the counters of its clocks have started again";
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

constexpr const char* energy_group = "Energy Model";
constexpr const char* state_group = "GPU Stats";
constexpr const char* state_subgroup = "GPU Performance States";
constexpr const char* state_channel = "GPUPH";

// An Ultra has one channel per die. Chips without such channels call it "GPU".
bool is_energy(std::string_view channel) {
  return channel.ends_with("GPU Energy") || channel == "GPU";
}

constexpr std::int32_t most_states = 64;

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

Rates compare(const Counters& before, const Counters& now, std::span<const double> clocks) {
  Rates out;
  out.no_watts = out.no_megahertz = alone;
  if (before.at_ns == 0 || now.at_ns <= before.at_ns) return out;
  const std::uint64_t window = now.at_ns - before.at_ns;
  if (window < shortest_ns || window > longest_ns) return out;
  if (platform::was_suspended(before.suspended_ns, now.suspended_ns)) return out;
  out.window_ns = window;
  compare_energy(before, now, out);
  compare_states(before, now, clocks, out);
  return out;
}

Rates CounterHistory::add(Counters now, std::span<const double> clocks) {
  const bool is_ripe = now.at_ns - younger_.at_ns >= usual_ns;
  Rates out = compare(is_ripe || older_.at_ns == 0 ? younger_ : older_, now, clocks);
  if (out.went_back) clear();
  if (is_ripe || younger_.at_ns == 0) {
    older_ = std::move(younger_);
    younger_ = std::move(now);
  }
  return out;
}

bool Report::open(const Frameworks& f) {
  close();
  if (!f.has_report) return false;
  f_ = &f;
  const Owned energy = make_text(f.core, energy_group);
  const Owned states = make_text(f.core, state_group);
  const Owned substates = make_text(f.core, state_subgroup);
  channels_ = {f.core, f.report.copy_channels(energy.get(), nullptr, 0, 0, 0)};
  Owned more{f.core, f.report.copy_channels(states.get(), substates.get(), 0, 0, 0)};
  if (!channels_) {
    channels_ = std::move(more);
  } else if (more) {
    f.report.merge_channels(channels_.get(), more.get(), nullptr);
  }
  if (!channels_) return false;
  Cf subscribed = nullptr;
  subscription_ = {f.core, f.report.subscribe(nullptr, channels_.get(), &subscribed, 0, nullptr)};
  subscribed_ = {f.core, subscribed};
  return subscription_ && subscribed_;
}

void Report::take(Cf channel, Counters& into) const {
  const IoReport& from = f_->report;
  const std::string group = text_of(f_->core, from.group_of(channel));
  const std::string name = text_of(f_->core, from.name_of(channel));
  if (group == energy_group && is_energy(name)) {
    const std::string unit = text_of(f_->core, from.unit_of(channel));
    const auto joules = joules_of(from.value_of(channel, 0), unit);
    if (!joules) into.odd_unit = unit;
    if (joules) into.joules = into.joules.value_or(0) + *joules;
  } else if (group == state_group && name == state_channel && into.states.empty()) {
    const std::int32_t count = from.state_count(channel);
    for (std::int32_t i = 0; i < count && i < most_states; ++i) {
      into.states.push_back(
          {text_of(f_->core, from.state_name(channel, i)), from.state_time(channel, i)});
    }
  }
}

Counters Report::read() const {
  Counters now;
  now.at_ns = platform::monotonic_ns();
  now.suspended_ns = platform::suspended_ns();
  if (!subscription_) return now;
  const Owned sample{f_->core, f_->report.sample(subscription_.get(), subscribed_.get(), nullptr)};
  const Cf list = find(f_->core, sample.get(), "IOReportChannels");
  const CfIndex count = count_of(f_->core, list);
  for (CfIndex i = 0; i < count; ++i) take(f_->core.at(list, i), now);
  return now;
}

void Report::close() noexcept {
  subscription_ = {};
  subscribed_ = {};
  channels_ = {};
  f_ = nullptr;
}

}  // namespace hmn::metal
