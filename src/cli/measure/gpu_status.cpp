// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/gpu_status.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/measure/by_device.hpp"
#include "cli/measure/freshness.hpp"
#include "cli/measure/user_names.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::telemetry;

struct value_source {
  part subject;
  std::uint32_t field;  // 0: the subject as a whole
  const char* name;
};
constexpr std::array<value_source, gpu_value_count> sources{{
    {part::telemetry, HMN_TELEMETRY_HAS_GPU_BUSY, "load"},
    {part::pools, HMN_POOL_HAS_USED, "memory"},
    {part::pools, HMN_POOL_HAS_TOTAL, "memory"},
    {part::telemetry, HMN_TELEMETRY_HAS_TEMPERATURE, "temperature"},
    {part::telemetry, HMN_TELEMETRY_HAS_POWER, "power"},
    {part::processes, 0, "processes"},
}};

bool has_value(const gpu_status& of, gpu_value which) {
  const auto& values = of.telemetry;
  switch (which) {
    case gpu_value::load:
      return values && values->gpu_busy_percent;
    case gpu_value::used:
      return used_bytes_of(of.of).has_value();
    case gpu_value::total:
      return of.of.memory && of.of.memory->total_bytes;
    case gpu_value::temperature:
      return values && values->temperature_celsius;
    case gpu_value::power:
      return values && values->power_watts;
    case gpu_value::users:
      break;
  }
  return true;
}

absence absence_of(const hypomnesis::diagnostic& why) {
  return {true, why.status == hypomnesis::status_code::unsupported,
          why.reason == hypomnesis::reason_id::not_yet, why.message};
}

// Returns the snapshot that has the subject.
const hypomnesis::snapshot& source_of(const gpu_snapshots& from, part subject) {
  return subject == part::pools ? from.memory : from.further;
}

void add_absences(const gpu_snapshots& from, gpu_status& to) {
  const auto index = to.of.device.index;
  for (std::size_t i = 0; i < gpu_value_count; ++i) {
    if (has_value(to, static_cast<gpu_value>(i))) continue;
    const auto& [subject, field, name] = sources[i];
    const auto why = source_of(from, subject).reason(index, subject, field);
    to.absences[i] = why ? absence_of(*why) : absence{true, false, false, {}};
  }
}

// Takes the later state if a device has stopped to answer in between.
void add_state(const gpu_snapshots& from, const std::vector<hypomnesis::device>& later,
               gpu_status& to) {
  const auto index = to.of.device.index;
  const bool was_known = state_of(to.of).has_value();
  if (!was_known && index < later.size() && later[index].index == index)
    to.of.device.state = later[index].state;
  if (!state_of(to.of)) return;
  const auto subject = was_known ? part::pools : part::telemetry;
  if (const auto why = source_of(from, subject).reason(index, subject)) to.why_state = why->message;
}

std::vector<process_row> rows_of(const session& in, const hypomnesis::snapshot& snapshot,
                                 gpu_map gpus) {
  user_names users(in.is_simulated());
  const auto until = user_names::clock::now() + in.patience();
  std::vector<process_row> rows;
  for (auto& usage : snapshot.usages()) {
    process_row row;
    row.on = device_of(gpus, usage.device_index);
    row.user = users.of(usage, until);
    row.usage = std::move(usage);
    rows.push_back(std::move(row));
  }
  return rows;
}

void add_users(const row_list& rows, bool lacks_rows, gpu_status& to) {
  const auto own = part_of(rows, to.of.device.index,
                           [](const process_row* each) { return each->usage.device_index; });
  to.users = group_rows({own.begin(), own.end()}, grouping::user, {lacks_rows, {}});
}

// Adds who uses each GPU; a list that is missing is an absent value.
void add_users(const session& in, const hypomnesis::snapshot& snapshot,
               const std::vector<gpu>& gpus, std::vector<gpu_status>& to) {
  std::map<std::uint32_t, absence> missing;
  std::map<std::uint32_t, std::vector<std::string>> doubts;
  bool lacks_some = false;  // of any device
  for (const auto& each : snapshot.diagnostics()) {
    if (hides_list(each) && each.device_index)
      missing.try_emplace(*each.device_index, absence_of(each));
    else if (hides_list(each))
      lacks_some = true;
    else if (each.device_index && each.pid && each.subject == part::processes && matters(each))
      doubts[*each.device_index].push_back(describe_process(each));
  }
  const auto rows = rows_of(in, snapshot, map_of(gpus));
  auto counted = list_of(rows);
  std::erase_if(counted, [repeated = repeated_rows(counted)](const process_row* each) {
    return repeated.contains(*each);
  });
  for (auto& each : to) {
    const auto lacks = missing.find(each.of.device.index);
    if (lacks != missing.end())
      each.absences[static_cast<std::size_t>(gpu_value::users)] = lacks->second;
    add_users(counted, lacks_some || lacks != missing.end(), each);
    each.doubts = std::move(doubts[each.of.device.index]);
  }
}

// Message and the values that it explains: the same for several devices is one line.
using explanation = std::pair<std::string, std::string>;

struct explanations {
  std::map<explanation, std::size_t> places;
  std::vector<std::pair<explanation, std::vector<std::uint32_t>>> all;  // in order of the devices
};

void collect(const gpu_status& of, explanations& to) {
  const auto add = [&](const explanation& why) {
    const auto [place, is_new] = to.places.try_emplace(why, to.all.size());
    if (is_new) to.all.push_back({why, {}});
    to.all[place->second].second.push_back(of.of.device.index);
  };
  if (const auto state = state_of(of.of)) {
    add({std::string(*state), of.why_state});
    return;
  }
  std::map<std::string, std::vector<std::string_view>> names;  // by message
  for (std::size_t i = 0; i < gpu_value_count; ++i) {
    const auto& why = of.absences[i];
    if (!why.is_missing || why.is_unsupported) continue;
    auto& listed = names[why.why];
    if (std::find(listed.begin(), listed.end(), sources[i].name) == listed.end())
      listed.push_back(sources[i].name);
  }
  for (const auto& doubt : of.doubts) add({"processes", doubt});
  for (const auto& [message, values] : names)
    add({fmt::format("{}", fmt::join(values, ", ")), message});
}

}  // namespace

std::optional<std::string_view> state_of(const gpu& of) noexcept {
  const auto state = of.device.state;
  if (state == run_state::ready || state == run_state::unknown) return std::nullopt;
  return state_word(state);
}

std::optional<std::uint64_t> used_bytes_of(const gpu& of) noexcept {
  if (!of.memory) return std::nullopt;
  const auto& pool = *of.memory;
  if (pool.used_bytes || !pool.total_bytes || !pool.free_bytes) return pool.used_bytes;
  return *pool.total_bytes - std::min(*pool.total_bytes, *pool.free_bytes);
}

std::vector<gpu_status> statuses_of(const session& in, const gpu_snapshots& from) {
  const auto gpus = gpus_of(in, from.memory);
  const auto later = from.further.devices();
  std::vector<gpu_status> all;
  for (const auto& each : gpus) {
    auto& status = all.emplace_back();
    status.of = each;
    status.telemetry = from.further.telemetry(each.device.index);
    add_state(from, later, status);
    add_absences(from, status);
  }
  add_users(in, from.further, gpus, all);
  return all;
}

std::vector<std::string> reason_lines(const std::vector<gpu_status>& all) {
  explanations grouped;
  for (const auto& each : all) collect(each, grouped);
  std::vector<std::string> lines;
  for (const auto& [why, devices] : grouped.all)
    lines.push_back(fmt::format("GPU {}: {}{}{}", ranges_text(devices), why.first,
                                why.second.empty() ? "" : ": ", why.second));
  return lines;
}

}  // namespace hmn::cli
