// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/report.hpp"

#include "platform/clock.hpp"

namespace hmn::metal {
namespace {

constexpr const char* energy_group = "Energy Model";
constexpr const char* state_group = "GPU Stats";
constexpr const char* state_subgroup = "GPU Performance States";
constexpr const char* state_channel = "GPUPH";

// One for each die of an Ultra. Chips that have no such channel call it "GPU".
bool is_energy(std::string_view channel) {
  return channel.ends_with("GPU Energy") || channel == "GPU";
}

constexpr std::int32_t most_states = 64;

}  // namespace

bool report::open(const frameworks& f) {
  close();
  if (!f.has_report) return false;
  f_ = &f;
  const owned energy = make_text(f.core, energy_group);
  const owned states = make_text(f.core, state_group);
  const owned substates = make_text(f.core, state_subgroup);
  channels_ = {f.core, f.report.copy_channels(energy.get(), nullptr, 0, 0, 0)};
  owned more{f.core, f.report.copy_channels(states.get(), substates.get(), 0, 0, 0)};
  if (!channels_) {
    channels_ = std::move(more);
  } else if (more) {
    f.report.merge_channels(channels_.get(), more.get(), nullptr);
  }
  if (!channels_) return false;
  cf subscribed = nullptr;
  subscription_ = {f.core, f.report.subscribe(nullptr, channels_.get(), &subscribed, 0, nullptr)};
  subscribed_ = {f.core, subscribed};
  return subscription_ && subscribed_;
}

void report::take(cf channel, counters& into) const {
  const io_report& from = f_->report;
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

counters report::read() const {
  counters now;
  now.at_ns = platform::monotonic_ns();
  if (!subscription_) return now;
  const owned sample{f_->core, f_->report.sample(subscription_.get(), subscribed_.get(), nullptr)};
  const cf list = find(f_->core, sample.get(), "IOReportChannels");
  const cf_index count = count_of(f_->core, list);
  for (cf_index i = 0; i < count; ++i) take(f_->core.at(list, i), now);
  return now;
}

void report::close() noexcept {
  subscription_ = {};
  subscribed_ = {};
  channels_ = {};
  f_ = nullptr;
}

}  // namespace hmn::metal
