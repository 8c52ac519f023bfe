// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/counters.hpp"

#include <utility>

#include "platform/clock.hpp"

namespace hmn::metal {
namespace {

constexpr std::uint64_t min_window_ns = 10 * platform::ns_per_ms;
constexpr std::uint64_t target_window_ns = 100 * platform::ns_per_ms;
constexpr std::uint64_t max_window_ns = 60 * platform::ns_per_second;
constexpr double max_watts = 300;

constexpr std::string_view no_earlier_reading =
    "there is no earlier reading near enough to compare with";

bool is_off(std::string_view state) {
  return state == "OFF" || state == "IDLE" || state == "DOWN";
}

void compare_energy(const Counters& before, const Counters& now, Rates& rates) {
  if (!now.joules || !before.joules) {
    rates.no_watts_reason = now.unknown_unit.empty()
                                ? "macOS counts no energy of this GPU"
                                : "macOS counts its energy in a unit that is not known";
    return;
  }
  const double watts = (*now.joules - *before.joules) * 1e9 / static_cast<double>(rates.window_ns);
  if (watts < 0) {
    rates.no_watts_reason = "the energy counter has started again";
    rates.has_decreased = true;
  } else if (watts == 0) {
    rates.no_watts_reason =
        "its energy counter did not advance: too little was used, or macOS does not count "
        "it any more";
  } else if (watts >= max_watts) {
    rates.no_watts_reason = "its energy counter has jumped";
  } else {
    rates.watts = watts;
  }
}

void compare_states(const Counters& before, const Counters& now, std::span<const double> clocks,
                    Rates& rates) {
  rates.no_megahertz_reason = "macOS does not report the time at each clock of this GPU";
  if (now.states.empty() || clocks.empty() || now.states.size() != before.states.size()) return;
  double running_ticks = 0;
  double weighted_ticks = 0;
  std::size_t running_count = 0;
  for (std::size_t i = 0; i < now.states.size(); ++i) {
    const Residency& residency = now.states[i];
    if (residency.state != before.states[i].state) return;
    if (residency.ticks < before.states[i].ticks) {
      rates.no_megahertz_reason = "the counters of its clocks have started again";
      rates.has_decreased = true;
      return;
    }
    if (is_off(residency.state)) continue;
    const auto ticks = static_cast<double>(residency.ticks - before.states[i].ticks);
    if (running_count < clocks.size()) weighted_ticks += ticks * clocks[running_count];
    running_ticks += ticks;
    ++running_count;
  }
  if (running_count != clocks.size()) {
    rates.no_megahertz_reason = "this GPU has more or fewer states than clocks";
  } else if (running_ticks == 0) {
    rates.no_megahertz_reason = "the GPU did not run in that time";
  } else {
    rates.megahertz = weighted_ticks / running_ticks;
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

constexpr std::int32_t max_states = 64;

}  // namespace

std::optional<double> convert_to_joules(std::int64_t amount, std::string_view unit) {
  while (unit.ends_with(' ')) unit.remove_suffix(1);
  const auto n = static_cast<double>(amount);
  if (amount < 0) return std::nullopt;
  if (unit == "nJ") return n / 1e9;
  if (unit == "uJ") return n / 1e6;
  if (unit == "mJ") return n / 1e3;
  return std::nullopt;
}

Rates compute_rates(const Counters& before, const Counters& now, std::span<const double> clocks) {
  Rates rates;
  rates.no_watts_reason = rates.no_megahertz_reason = no_earlier_reading;
  if (before.time_ns == 0 || now.time_ns <= before.time_ns) return rates;
  const std::uint64_t window = now.time_ns - before.time_ns;
  if (window < min_window_ns || window > max_window_ns) return rates;
  if (platform::was_suspended(before.suspended_ns, now.suspended_ns)) return rates;
  rates.window_ns = window;
  compare_energy(before, now, rates);
  compare_states(before, now, clocks, rates);
  return rates;
}

Rates CounterHistory::add(Counters now, std::span<const double> clocks) {
  const bool is_ripe = now.time_ns - younger_.time_ns >= target_window_ns;
  Rates rates = compute_rates(is_ripe || older_.time_ns == 0 ? younger_ : older_, now, clocks);
  if (rates.has_decreased) clear();
  if (is_ripe || younger_.time_ns == 0) {
    older_ = std::move(younger_);
    younger_ = std::move(now);
  }
  return rates;
}

bool ChannelReader::open(const Frameworks& frameworks) {
  close();
  if (!frameworks.has_report) return false;
  frameworks_ = &frameworks;
  const OwnedRef energy = make_text(frameworks.core, energy_group);
  const OwnedRef states = make_text(frameworks.core, state_group);
  const OwnedRef substates = make_text(frameworks.core, state_subgroup);
  channels_ = {frameworks.core, frameworks.report.copy_channels(energy.get(), nullptr, 0, 0, 0)};
  OwnedRef state_channels{frameworks.core,
                          frameworks.report.copy_channels(states.get(), substates.get(), 0, 0, 0)};
  if (!channels_) {
    channels_ = std::move(state_channels);
  } else if (state_channels) {
    frameworks.report.merge_channels(channels_.get(), state_channels.get(), nullptr);
  }
  if (!channels_) return false;
  Cf subscribed_channels = nullptr;
  subscription_ = {frameworks.core, frameworks.report.subscribe(nullptr, channels_.get(),
                                                                &subscribed_channels, 0, nullptr)};
  subscribed_channels_ = {frameworks.core, subscribed_channels};
  return subscription_ && subscribed_channels_;
}

void ChannelReader::add_channel(Cf channel, Counters& counters) const {
  const IoReport& report = frameworks_->report;
  const std::string group = get_text(frameworks_->core, report.get_group(channel));
  const std::string name = get_text(frameworks_->core, report.get_name(channel));
  if (group == energy_group && is_energy(name)) {
    const std::string unit = get_text(frameworks_->core, report.get_unit(channel));
    const auto joules = convert_to_joules(report.get_value(channel, 0), unit);
    if (!joules) counters.unknown_unit = unit;
    if (joules) counters.joules = counters.joules.value_or(0) + *joules;
  } else if (group == state_group && name == state_channel && counters.states.empty()) {
    const std::int32_t count = report.state_count(channel);
    for (std::int32_t i = 0; i < count && i < max_states; ++i) {
      counters.states.push_back({get_text(frameworks_->core, report.state_name(channel, i)),
                                 report.state_time(channel, i)});
    }
  }
}

Counters ChannelReader::read() const {
  Counters now;
  now.time_ns = platform::monotonic_ns();
  now.suspended_ns = platform::suspended_ns();
  if (!subscription_) return now;
  const OwnedRef sample{
      frameworks_->core,
      frameworks_->report.sample(subscription_.get(), subscribed_channels_.get(), nullptr)};
  const Cf list = find(frameworks_->core, sample.get(), "IOReportChannels");
  const CfIndex count = get_count(frameworks_->core, list);
  for (CfIndex i = 0; i < count; ++i) add_channel(frameworks_->core.get_item(list, i), now);
  return now;
}

void ChannelReader::close() noexcept {
  subscription_ = {};
  subscribed_channels_ = {};
  channels_ = {};
  frameworks_ = nullptr;
}

}  // namespace hmn::metal
