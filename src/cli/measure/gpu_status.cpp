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

bool has_value(const GpuStatus& status, GpuValue value) {
  const auto& values = status.telemetry;
  switch (value) {
    case GpuValue::load:
      return values && values->gpu_busy_percent;
    case GpuValue::used:
      return get_used_bytes(status.gpu).has_value();
    case GpuValue::total:
      return status.gpu.memory && status.gpu.memory->total_bytes;
    case GpuValue::temperature:
      return values && values->temperature_celsius;
    case GpuValue::power:
      return values && values->power_watts;
    case GpuValue::users:
      break;
  }
  return true;
}

Absence make_absence(const hypomnesis::diagnostic& diagnostic) {
  return {true, diagnostic.status == hypomnesis::status_code::unsupported,
          diagnostic.reason == hypomnesis::reason_id::not_yet, diagnostic.message};
}

// Returns the snapshot that has the subject.
const hypomnesis::snapshot& select_snapshot(const GpuSnapshots& snapshots, part subject) {
  return subject == part::pools ? snapshots.memory : snapshots.activity;
}

void add_absences(const GpuSnapshots& snapshots, GpuStatus& status) {
  const auto index = status.gpu.device.index;
  for (std::size_t i = 0; i < gpu_value_count; ++i) {
    if (has_value(status, static_cast<GpuValue>(i))) continue;
    const auto& [subject, field, name] = sources[i];
    const auto diagnostic = select_snapshot(snapshots, subject).reason(index, subject, field);
    status.absences[i] = diagnostic ? make_absence(*diagnostic) : Absence{true, false, false, {}};
  }
}

// Takes the later state if a device has stopped answering in between. Drops values from before a
// device was lost.
void add_state(const GpuSnapshots& snapshots, const std::vector<hypomnesis::device>& later,
               GpuStatus& status) {
  const auto index = status.gpu.device.index;
  const bool had_state = describe_state(status.gpu).has_value();
  if (!had_state && index < later.size() && later[index].index == index)
    status.gpu.device.state = later[index].state;
  if (!describe_state(status.gpu)) return;
  if (status.gpu.device.state == run_state::lost) status.gpu.memory.reset();
  const auto subject = had_state ? part::pools : part::telemetry;
  status.state_reason =
      explain_state(select_snapshot(snapshots, subject), status.gpu.device, subject);
}

std::vector<ProcessRow> make_process_rows(const Session& session,
                                          const hypomnesis::snapshot& snapshot, GpuMap gpus) {
  UserNames users(session.is_simulated());
  const auto deadline = UserNames::Clock::now() + session.reading_timeout();
  std::vector<ProcessRow> rows;
  for (auto& usage : snapshot.usages()) {
    ProcessRow row;
    row.gpu = find_or_add_gpu(gpus, usage.device_index);
    row.user = users.find(usage, deadline);
    row.usage = std::move(usage);
    select_pool(row, &PoolUse::main);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> list_names(RowList rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const ProcessRow* a, const ProcessRow* b) {
    return comes_before(*a, *b, SortKey::vram);
  });
  std::vector<std::string> names;
  for (const auto* row : rows) {
    const auto name = row->usage.process_name.value_or("?");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void add_users(const RowList& rows, bool lacks_rows, GpuStatus& status) {
  const auto own = filter_by_device(rows, status.gpu.device.index,
                                    [](const ProcessRow* row) { return row->usage.device_index; });
  status.users = group_rows({own.begin(), own.end()}, Grouping::user, {lacks_rows, {}});
  UsageTally tally;
  for (const auto* row : own) tally.add(*row);
  if (auto reason = tally.explain_missing(); !reason.empty())
    status.doubts.push_back(std::move(reason));
  status.processes = list_names({own.begin(), own.end()});
}

// Adds who uses each GPU; a list that is missing is an absent value.
void add_users(const Session& session, const hypomnesis::snapshot& snapshot,
               const std::vector<Gpu>& gpus, std::vector<GpuStatus>& statuses) {
  std::map<std::uint32_t, Absence> missing;
  std::map<std::uint32_t, std::vector<std::string>> doubts;
  bool is_partial = false;  // of any device
  for (const auto& diagnostic : merge_process_diagnostics(snapshot.diagnostics())) {
    if (hides_some_processes(diagnostic) && diagnostic.device_index)
      missing.try_emplace(*diagnostic.device_index, make_absence(diagnostic));
    else if (hides_some_processes(diagnostic))
      is_partial = true;
    else if (diagnostic.device_index && diagnostic.pid && diagnostic.subject == part::processes &&
             matters(diagnostic))
      doubts[*diagnostic.device_index].push_back(describe_without_device(diagnostic));
  }
  const auto rows = make_process_rows(session, snapshot, make_gpu_map(gpus));
  auto distinct_rows = make_row_list(rows);
  std::erase_if(distinct_rows, [repeated = RepeatedRows(distinct_rows)](const ProcessRow* row) {
    return repeated.contains(*row);
  });
  for (auto& status : statuses) {
    const auto it = missing.find(status.gpu.device.index);
    if (it != missing.end())
      status.absences[static_cast<std::size_t>(GpuValue::users)] = it->second;
    status.doubts = std::move(doubts[status.gpu.device.index]);
    add_users(distinct_rows, is_partial || it != missing.end(), status);
  }
}

// Message and the values that it explains: the same for several devices is one line.
using Explanation = std::pair<std::string, std::string>;

struct Explanations {
  std::map<Explanation, std::size_t> positions;
  std::vector<std::pair<Explanation, std::vector<std::uint32_t>>> all;  // in order of the devices
};

void collect_explanations(const GpuStatus& status, Explanations& explanations) {
  const auto add = [&](const Explanation& explanation) {
    const auto [entry, is_new] =
        explanations.positions.try_emplace(explanation, explanations.all.size());
    if (is_new) explanations.all.push_back({explanation, {}});
    explanations.all[entry->second].second.push_back(status.gpu.device.index);
  };
  const auto state = describe_state(status.gpu);
  if (state) add({std::string(*state), status.state_reason});
  if (status.gpu.memory && !is_fresh(status.gpu.memory->notes))
    add({"memory", format_stale_age(status.gpu.memory->age_ns)});
  if (state) return;
  if (status.telemetry && !is_fresh(status.telemetry->notes))
    add({"sensors", format_stale_age(status.telemetry->age_ns)});
  std::map<std::string, std::vector<std::string_view>> names;  // by message
  for (std::size_t i = 0; i < gpu_value_count; ++i) {
    const auto& absence = status.absences[i];
    if (!absence.is_missing || absence.is_unsupported) continue;
    auto& values = names[absence.reason];
    if (std::find(values.begin(), values.end(), sources[i].name) == values.end())
      values.push_back(sources[i].name);
  }
  for (const auto& doubt : status.doubts) add({"processes", doubt});
  for (const auto& [message, values] : names)
    add({fmt::format("{}", fmt::join(values, ", ")), message});
}

}  // namespace

std::optional<std::string_view> describe_state(const Gpu& gpu) noexcept {
  const auto state = gpu.device.state;
  if (state == run_state::ready || state == run_state::unknown) return std::nullopt;
  return state_word(state);
}

std::optional<std::uint64_t> get_used_bytes(const Gpu& gpu) noexcept {
  return gpu.memory ? gpu.memory->used_bytes : std::nullopt;
}

std::vector<GpuStatus> make_statuses(const Session& session, const GpuSnapshots& snapshots) {
  const auto gpus = list_gpus(session, snapshots.memory);
  const auto later = snapshots.activity.devices();
  std::vector<GpuStatus> all;
  for (const auto& gpu : gpus) {
    auto& status = all.emplace_back();
    status.gpu = gpu;
    status.telemetry = snapshots.activity.telemetry(gpu.device.index);
    add_state(snapshots, later, status);
    add_absences(snapshots, status);
  }
  add_users(session, snapshots.activity, gpus, all);
  return all;
}

std::vector<std::string> format_reason_lines(const std::vector<GpuStatus>& statuses) {
  Explanations explanations;
  for (const auto& status : statuses) collect_explanations(status, explanations);
  std::vector<std::string> lines;
  for (const auto& [explanation, devices] : explanations.all)
    lines.push_back(fmt::format("GPU {}: {}{}{}", format_ranges(devices), explanation.first,
                                explanation.second.empty() ? "" : ": ", explanation.second));
  return lines;
}

namespace {

using Cell = Table::Cell;

constexpr double warm_celsius = 80;
constexpr double hot_celsius = 90;
constexpr std::size_t no_length_limit = 4096;

bool has_only_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_digit);
}

// Removes the vendor's name at the beginning: "Intel(R) Arc" without "Intel" is "Arc".
std::string_view strip_vendor(std::string_view name, std::string_view vendor) {
  if (vendor.empty() || !name.starts_with(vendor)) return name;
  auto rest = name.substr(vendor.size());
  for (const std::string_view suffix : {"(R)", " Corporation"})
    if (rest.starts_with(suffix)) rest.remove_prefix(suffix.size());
  return rest.size() > 1 && rest.front() == ' ' ? rest.substr(1) : name;
}

std::string_view get_missing_sign(const GpuStatus& status, GpuValue value) {
  return missing_sign(status.absence(value).is_unsupported);
}

Cell format_missing_value(const GpuStatus& status, GpuValue value) {
  if (describe_state(status.gpu)) return {};
  return {std::string(get_missing_sign(status, value)), Tone::faint};
}

Tone choose_age_tone(hypomnesis::note notes, Tone fresh = Tone::plain) {
  return is_fresh(notes) ? fresh : Tone::faint;
}

Tone choose_state_tone(run_state state) {
  return state == run_state::asleep ? Tone::faint : Tone::bad;
}

// Returns a unit with its space; in compact form it is in the title.
std::string format_unit(std::string_view name, Spacing spacing) {
  return spacing == Spacing::roomy ? fmt::format(" {}", name) : std::string();
}

std::string format_slash(Spacing spacing) {
  return spacing == Spacing::roomy ? " / " : "/";
}

std::string format_sum(const UsageTally& tally) {
  const auto bytes = tally.bytes();
  return bytes ? format_gib(tally.is_at_least() ? ">=" : "", *bytes) : "?";
}

std::string format_user(const UsageGroup& user, std::size_t max_length, const Style& style) {
  std::string name = user.name.value_or("?");
  if (!name.empty() && has_only_digits(name)) name = "uid " + name;
  return fmt::format(
      "{} {}",
      cut_middle(escape_for_text(name, style.ascii_only), max_length, choose_ellipsis(style)),
      format_sum(user.total));
}

// Names the first users, and adds up the others.
std::string format_user_list(const std::vector<UsageGroup>& users, std::size_t name_count,
                             std::size_t max_length, const Style& style) {
  std::string text;
  for (std::size_t i = 0; i < name_count; ++i)
    text += (i == 0 ? "" : ", ") + format_user(users[i], max_length, style);
  if (name_count == users.size()) return text;
  std::uint64_t bytes = 0;
  bool is_at_least = false;
  for (std::size_t i = name_count; i < users.size(); ++i) {
    bytes += users[i].total.bytes().value_or(0);
    is_at_least = is_at_least || users[i].total.is_at_least();
  }
  const auto rest_count = users.size() - name_count;
  const auto sum = format_gib(is_at_least ? ">=" : "", bytes);
  return name_count == 0 ? fmt::format("{} users {}", rest_count, sum)
                         : fmt::format("{}, +{} {}", text, rest_count, sum);
}

}  // namespace

std::string shorten_name(const Gpu& gpu, const Gpu* parent) {
  const auto& name = gpu.device.name;
  if (!name) return get_display_name(gpu).value_or("?");
  if (parent != nullptr && parent->device.name && name->starts_with(*parent->device.name + " "))
    return name->substr(parent->device.name->size() + 1);
  return std::string(strip_vendor(*name, vendor_name(gpu.device.vendor).value_or("")));
}

std::string format_amount(std::string_view mark, std::optional<std::uint64_t> used,
                          std::optional<std::uint64_t> total, Spacing spacing,
                          std::string_view missing_sign) {
  return fmt::format("{}{}{}{}", used ? format_gib(mark, *used) : std::string(missing_sign),
                     format_slash(spacing), total ? format_gib(*total) : "?",
                     format_unit("GiB", spacing));
}

Cell format_load(const GpuStatus& status, Spacing spacing) {
  if (const auto state = describe_state(status.gpu))
    return {std::string(*state), choose_state_tone(status.gpu.device.state)};
  if (!status.telemetry || !status.telemetry->gpu_busy_percent)
    return format_missing_value(status, GpuValue::load);
  return {fmt::format("{:.0f}{}", *status.telemetry->gpu_busy_percent, format_unit("%", spacing)),
          choose_age_tone(status.telemetry->notes)};
}

Cell format_memory(const GpuStatus& status, Spacing spacing) {
  const auto used = get_used_bytes(status.gpu);
  const auto total = status.gpu.memory ? status.gpu.memory->total_bytes : std::nullopt;
  if (!used && !total) return format_missing_value(status, GpuValue::used);
  const auto notes = status.gpu.memory->notes;
  return {format_amount(accuracy_mark(notes), used, total, spacing,
                        get_missing_sign(status, GpuValue::used)),
          choose_age_tone(notes)};
}

Cell format_temperature(const GpuStatus& status, Spacing spacing, const Style& style) {
  if (!status.telemetry || !status.telemetry->temperature_celsius)
    return format_missing_value(status, GpuValue::temperature);
  const auto celsius = *status.telemetry->temperature_celsius;
  const auto tone = celsius >= hot_celsius    ? Tone::bad
                    : celsius >= warm_celsius ? Tone::warning
                                              : Tone::plain;
  return {
      fmt::format("{:.0f}{}", celsius, format_unit(style.ascii_only ? "C" : "\u00b0C", spacing)),
      choose_age_tone(status.telemetry->notes, tone)};
}

Cell format_power(const GpuStatus& status, Spacing spacing) {
  if (!status.telemetry || (!status.telemetry->power_watts && !status.telemetry->power_limit_watts))
    return format_missing_value(status, GpuValue::power);
  const auto& values = *status.telemetry;
  auto text = values.power_watts ? fmt::format("{:.0f}", *values.power_watts)
                                 : std::string(get_missing_sign(status, GpuValue::power));
  if (values.power_limit_watts)
    text += format_slash(spacing) + fmt::format("{:.0f}", *values.power_limit_watts);
  return {text + format_unit("W", spacing), choose_age_tone(values.notes)};
}

Cell format_users(const GpuStatus& status, UserDetail detail, const Style& style) {
  if (status.users.empty())
    return status.absence(GpuValue::users).is_missing
               ? format_missing_value(status, GpuValue::users)
               : Cell{};
  Cell cell{
      format_user_list(status.users, status.users.size(), no_length_limit, style), Tone::plain, {}};
  if (detail == UserDetail::all) return cell;
  for (auto name_count = status.users.size(); name_count > 0; --name_count)
    for (const std::size_t max_length : {no_length_limit, std::size_t{16}, std::size_t{10}})
      cell.shorter.push_back(format_user_list(status.users, name_count, max_length, style));
  if (detail == UserDetail::sum && status.users.size() > 1)
    cell.shorter.push_back(format_user_list(status.users, 0, no_length_limit, style));
  return cell;
}

}  // namespace hmn::cli
