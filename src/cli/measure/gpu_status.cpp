// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/gpu_status.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/measure/processes.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::telemetry;

struct ValueSource {
  part subject;
  std::uint32_t field;  // 0: the subject as a whole
  const char* name;
};
constexpr std::array<ValueSource, gpu_value_count> sources{{
    {part::telemetry, HMN_TELEMETRY_HAS_GPU_BUSY, "load"},
    {part::pools, HMN_POOL_HAS_USED, "memory"},
    {part::pools, HMN_POOL_HAS_TOTAL, "memory"},
    {part::telemetry, HMN_TELEMETRY_HAS_TEMPERATURE, "temperature"},
    {part::telemetry, HMN_TELEMETRY_HAS_POWER, "power"},
    {part::processes, 0, "processes"},
}};

bool has_value(const GpuStatus& of, GpuValue which) {
  const auto& values = of.telemetry;
  switch (which) {
    case GpuValue::load:
      return values && values->gpu_busy_percent;
    case GpuValue::used:
      return used_bytes_of(of.of).has_value();
    case GpuValue::total:
      return of.of.memory && of.of.memory->total_bytes;
    case GpuValue::temperature:
      return values && values->temperature_celsius;
    case GpuValue::power:
      return values && values->power_watts;
    case GpuValue::users:
      break;
  }
  return true;
}

Absence absence_of(const hypomnesis::diagnostic& why) {
  return {true, why.status == hypomnesis::status_code::unsupported,
          why.reason == hypomnesis::reason_id::not_yet, why.message};
}

// Returns the snapshot that has the subject.
const hypomnesis::snapshot& source_of(const GpuSnapshots& from, part subject) {
  return subject == part::pools ? from.memory : from.further;
}

void add_absences(const GpuSnapshots& from, GpuStatus& to) {
  const auto index = to.of.device.index;
  for (std::size_t i = 0; i < gpu_value_count; ++i) {
    if (has_value(to, static_cast<GpuValue>(i))) continue;
    const auto& [subject, field, name] = sources[i];
    const auto why = source_of(from, subject).reason(index, subject, field);
    to.absences[i] = why ? absence_of(*why) : Absence{true, false, false, {}};
  }
}

// Takes the later state if a device has stopped to answer in between. What was read of a device
// that is lost now is of the past.
void add_state(const GpuSnapshots& from, const std::vector<hypomnesis::device>& later,
               GpuStatus& to) {
  const auto index = to.of.device.index;
  const bool was_known = state_of(to.of).has_value();
  if (!was_known && index < later.size() && later[index].index == index)
    to.of.device.state = later[index].state;
  if (!state_of(to.of)) return;
  if (to.of.device.state == run_state::lost) to.of.memory.reset();
  const auto subject = was_known ? part::pools : part::telemetry;
  to.why_state = why_state(source_of(from, subject), to.of.device, subject);
}

std::vector<ProcessRow> rows_of(const Session& in, const hypomnesis::snapshot& snapshot,
                                GpuMap gpus) {
  UserNames users(in.is_simulated());
  const auto until = UserNames::Clock::now() + in.patience();
  std::vector<ProcessRow> rows;
  for (auto& usage : snapshot.usages()) {
    ProcessRow row;
    row.on = device_of(gpus, usage.device_index);
    row.user = users.of(usage, until);
    row.usage = std::move(usage);
    show_pool(row, &PoolUse::main);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> names_of(RowList rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const ProcessRow* a, const ProcessRow* b) {
    return comes_before(*a, *b, SortKey::vram);
  });
  std::vector<std::string> names;
  for (const auto* each : rows) {
    const auto name = each->usage.process_name.value_or("?");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void add_users(const RowList& rows, bool lacks_rows, GpuStatus& to) {
  const auto own = part_of(rows, to.of.device.index,
                           [](const ProcessRow* each) { return each->usage.device_index; });
  to.users = group_rows({own.begin(), own.end()}, Grouping::user, {lacks_rows, {}});
  UsageTally all;
  for (const auto* each : own) all.add(*each);
  if (auto why = all.why_none(); !why.empty()) to.doubts.push_back(std::move(why));
  to.processes = names_of({own.begin(), own.end()});
}

// Adds who uses each GPU; a list that is missing is an absent value.
void add_users(const Session& in, const hypomnesis::snapshot& snapshot,
               const std::vector<Gpu>& gpus, std::vector<GpuStatus>& to) {
  std::map<std::uint32_t, Absence> missing;
  std::map<std::uint32_t, std::vector<std::string>> doubts;
  bool lacks_some = false;  // of any device
  for (const auto& each : merge_processes(snapshot.diagnostics())) {
    if (hides_list(each) && each.device_index)
      missing.try_emplace(*each.device_index, absence_of(each));
    else if (hides_list(each))
      lacks_some = true;
    else if (each.device_index && each.pid && each.subject == part::processes && matters(each))
      doubts[*each.device_index].push_back(describe_process(each));
  }
  const auto rows = rows_of(in, snapshot, map_of(gpus));
  auto counted = list_of(rows);
  std::erase_if(counted, [repeated = RepeatedRows(counted)](const ProcessRow* each) {
    return repeated.contains(*each);
  });
  for (auto& each : to) {
    const auto lacks = missing.find(each.of.device.index);
    if (lacks != missing.end())
      each.absences[static_cast<std::size_t>(GpuValue::users)] = lacks->second;
    each.doubts = std::move(doubts[each.of.device.index]);
    add_users(counted, lacks_some || lacks != missing.end(), each);
  }
}

// Message and the values that it explains: the same for several devices is one line.
using Explanation = std::pair<std::string, std::string>;

struct Explanations {
  std::map<Explanation, std::size_t> places;
  std::vector<std::pair<Explanation, std::vector<std::uint32_t>>> all;  // in order of the devices
};

void collect(const GpuStatus& of, Explanations& to) {
  const auto add = [&](const Explanation& why) {
    const auto [place, is_new] = to.places.try_emplace(why, to.all.size());
    if (is_new) to.all.push_back({why, {}});
    to.all[place->second].second.push_back(of.of.device.index);
  };
  const auto state = state_of(of.of);
  if (state) add({std::string(*state), of.why_state});
  if (of.of.memory && !is_fresh(of.of.memory->notes))
    add({"memory", stale_text(of.of.memory->age_ns)});
  if (state) return;
  if (of.telemetry && !is_fresh(of.telemetry->notes))
    add({"sensors", stale_text(of.telemetry->age_ns)});
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

std::optional<std::string_view> state_of(const Gpu& of) noexcept {
  const auto state = of.device.state;
  if (state == run_state::ready || state == run_state::unknown) return std::nullopt;
  return state_word(state);
}

std::optional<std::uint64_t> used_bytes_of(const Gpu& of) noexcept {
  return of.memory ? of.memory->used_bytes : std::nullopt;
}

std::vector<GpuStatus> statuses_of(const Session& in, const GpuSnapshots& from) {
  const auto gpus = gpus_of(in, from.memory);
  const auto later = from.further.devices();
  std::vector<GpuStatus> all;
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

std::vector<std::string> reason_lines(const std::vector<GpuStatus>& all) {
  Explanations grouped;
  for (const auto& each : all) collect(each, grouped);
  std::vector<std::string> lines;
  for (const auto& [why, devices] : grouped.all)
    lines.push_back(fmt::format("GPU {}: {}{}{}", ranges_text(devices), why.first,
                                why.second.empty() ? "" : ": ", why.second));
  return lines;
}

namespace {

using Cell = Table::Cell;

constexpr double warm_celsius = 80;
constexpr double hot_celsius = 90;
constexpr std::size_t whole_name = 4096;

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_digit);
}

// Removes a vendor's word at the begin: "Intel(R) Arc" without "Intel" is "Arc".
std::string_view without_vendor(std::string_view name, std::string_view vendor) {
  if (vendor.empty() || !name.starts_with(vendor)) return name;
  auto rest = name.substr(vendor.size());
  for (const std::string_view suffix : {"(R)", " Corporation"})
    if (rest.starts_with(suffix)) rest.remove_prefix(suffix.size());
  return rest.size() > 1 && rest.front() == ' ' ? rest.substr(1) : name;
}

std::string_view sign_of(const GpuStatus& of, GpuValue which) {
  return sign_of_missing(of.why_missing(which).is_unsupported);
}

Cell missing_cell(const GpuStatus& of, GpuValue which) {
  if (state_of(of.of)) return {};
  return {std::string(sign_of(of, which)), Tone::faint};
}

Tone tone_of_age(hypomnesis::note notes, Tone fresh = Tone::plain) {
  return is_fresh(notes) ? fresh : Tone::faint;
}

Tone tone_of_state(run_state of) {
  return of == run_state::asleep ? Tone::faint : Tone::bad;
}

// Returns a unit with its space; in compact form it is in the title.
std::string unit(std::string_view name, Spacing with) {
  return with == Spacing::roomy ? fmt::format(" {}", name) : std::string();
}

std::string slash(Spacing with) {
  return with == Spacing::roomy ? " / " : "/";
}

std::string sum_text(const UsageTally& of) {
  const auto bytes = of.bytes();
  return bytes ? gib_text(of.is_at_least() ? ">=" : "", *bytes) : "?";
}

std::string user_text(const UsageGroup& of, std::size_t longest, const Style& as) {
  std::string name = of.name.value_or("?");
  if (!name.empty() && all_digits(name)) name = "uid " + name;
  return fmt::format("{} {}",
                     cut_middle(escape_for_text(name, as.ascii_only), longest, ellipsis_of(as)),
                     sum_text(of.total));
}

// Names the first users, and adds up the others.
std::string users_text(const std::vector<UsageGroup>& users, std::size_t named, std::size_t longest,
                       const Style& as) {
  std::string text;
  for (std::size_t i = 0; i < named; ++i)
    text += (i == 0 ? "" : ", ") + user_text(users[i], longest, as);
  if (named == users.size()) return text;
  std::uint64_t bytes = 0;
  bool is_at_least = false;
  for (std::size_t i = named; i < users.size(); ++i) {
    bytes += users[i].total.bytes().value_or(0);
    is_at_least = is_at_least || users[i].total.is_at_least();
  }
  const auto others = users.size() - named;
  const auto sum = gib_text(is_at_least ? ">=" : "", bytes);
  return named == 0 ? fmt::format("{} users {}", others, sum)
                    : fmt::format("{}, +{} {}", text, others, sum);
}

}  // namespace

std::string short_name(const Gpu& of, const Gpu* parent) {
  const auto& name = of.device.name;
  if (!name) return shown_name(of).value_or("?");
  if (parent != nullptr && parent->device.name && name->starts_with(*parent->device.name + " "))
    return name->substr(parent->device.name->size() + 1);
  return std::string(without_vendor(*name, vendor_name(of.device.vendor).value_or("")));
}

std::string amount_text(std::string_view mark, std::optional<std::uint64_t> used,
                        std::optional<std::uint64_t> total, Spacing with,
                        std::string_view sign_of_used) {
  return fmt::format("{}{}{}{}", used ? gib_text(mark, *used) : std::string(sign_of_used),
                     slash(with), total ? gib_text(*total) : "?", unit("GiB", with));
}

Cell load_cell(const GpuStatus& of, Spacing with) {
  if (const auto state = state_of(of.of))
    return {std::string(*state), tone_of_state(of.of.device.state)};
  if (!of.telemetry || !of.telemetry->gpu_busy_percent) return missing_cell(of, GpuValue::load);
  return {fmt::format("{:.0f}{}", *of.telemetry->gpu_busy_percent, unit("%", with)),
          tone_of_age(of.telemetry->notes)};
}

Cell memory_cell(const GpuStatus& of, Spacing with) {
  const auto used = used_bytes_of(of.of);
  const auto total = of.of.memory ? of.of.memory->total_bytes : std::nullopt;
  if (!used && !total) return missing_cell(of, GpuValue::used);
  const auto notes = of.of.memory->notes;
  return {amount_text(mark_of(notes), used, total, with, sign_of(of, GpuValue::used)),
          tone_of_age(notes)};
}

Cell temperature_cell(const GpuStatus& of, Spacing with, const Style& as) {
  if (!of.telemetry || !of.telemetry->temperature_celsius)
    return missing_cell(of, GpuValue::temperature);
  const auto celsius = *of.telemetry->temperature_celsius;
  const auto how = celsius >= hot_celsius    ? Tone::bad
                   : celsius >= warm_celsius ? Tone::warning
                                             : Tone::plain;
  return {fmt::format("{:.0f}{}", celsius, unit(as.ascii_only ? "C" : "\u00b0C", with)),
          tone_of_age(of.telemetry->notes, how)};
}

Cell power_cell(const GpuStatus& of, Spacing with) {
  if (!of.telemetry || (!of.telemetry->power_watts && !of.telemetry->power_limit_watts))
    return missing_cell(of, GpuValue::power);
  const auto& values = *of.telemetry;
  auto text = values.power_watts ? fmt::format("{:.0f}", *values.power_watts)
                                 : std::string(sign_of(of, GpuValue::power));
  if (values.power_limit_watts)
    text += slash(with) + fmt::format("{:.0f}", *values.power_limit_watts);
  return {text + unit("W", with), tone_of_age(values.notes)};
}

Cell users_cell(const GpuStatus& of, ShownUsers which, const Style& as) {
  if (of.users.empty())
    return of.why_missing(GpuValue::users).is_missing ? missing_cell(of, GpuValue::users) : Cell{};
  Cell out{users_text(of.users, of.users.size(), whole_name, as), Tone::plain, {}};
  if (which == ShownUsers::all) return out;
  for (auto named = of.users.size(); named > 0; --named)
    for (const std::size_t longest : {whole_name, std::size_t{16}, std::size_t{10}})
      out.shorter.push_back(users_text(of.users, named, longest, as));
  if (which == ShownUsers::sum && of.users.size() > 1)
    out.shorter.push_back(users_text(of.users, 0, whole_name, as));
  return out;
}

}  // namespace hmn::cli
