// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/files.hpp"
#include "cli/commands/values.hpp"
#include "cli/measure/run_meter.hpp"
#include "cli/measure/run_record.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/child.hpp"
#include "cli/system/command_group.hpp"
#include "cli/system/file.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/json.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/output.hpp"
#include "cli/text/plot.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::backend_id;

// Results known after the command has ended, in addition to its samples.
struct RunResult {
  std::vector<std::string> command;
  ProcessEnd end;
  std::uint64_t started_unix_ns = 0;
  std::uint64_t elapsed_ns = 0;
  // Memory of hmn itself; none if unknown. The command's first process starts as a copy of hmn,
  // which the kernel may count: a peak up to this size may be hmn's.
  std::optional<std::uint64_t> own_bytes;
  bool sees_orphans = false;  // false: a descendant may have escaped unnoticed
  RemainingProcesses remaining;
  GroupPeak group;
  std::vector<GroupPeak> device_groups;  // ordered as the samples' devices
  std::vector<EnergyReading> energy;     // at the end, in the same order
  std::vector<DriverPeak> peaks;         // in the same order

  // Returns whether every value may be less than the command used or still uses.
  bool is_partial() const { return !sees_orphans || remaining.count != 0u; }
};

struct RunOutcome {
  const RunResult& result;
  const RunAccount& account;
  const RunMeter& meter;
};

constexpr const char* not_reported_by_system = "not reported by the system";
constexpr const char* not_available = "this system has none";
constexpr const char* not_reported_by_driver = "not reported by the driver";

std::string format_command(const RunResult& result) {
  std::string text;
  for (const auto& word : result.command) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string format_end(const RunResult& result) {
  const auto code = fmt::format("exit code {}", static_cast<int>(result.end.status));
  return result.end.signal.empty() ? code
                                   : fmt::format("ended by {} ({})", result.end.signal, code);
}

// Returns the longest time between two samples, or between the last one and the end: values in
// between are unknown.
std::uint64_t find_longest_interval(const RunOutcome& outcome, const TrackedValue& value) {
  return std::max(static_cast<std::uint64_t>(outcome.meter.interval().count()),
                  value.longest_gap_ns(outcome.result.elapsed_ns));
}

// Returns whether samples of PSS were skipped: the kernel takes long to compute it.
bool has_skipped_samples(const RunOutcome& outcome, const TrackedValue& value) {
  return find_longest_interval(outcome, value) >=
         2 * static_cast<std::uint64_t>(outcome.meter.interval().count());
}

std::string format_interval(const RunOutcome& outcome, const TrackedValue& value) {
  const auto ms = find_longest_interval(outcome, value) / ns_per_ms;
  return ms >= 10'000 ? fmt::format("{} s", ms / 1000)
                      : fmt::format("{} ms", std::max<std::uint64_t>(ms, 1));
}

// Returns "at 0.4 s, sampled every 100 ms, 4 of 5 samples".
std::string format_sampling(const RunOutcome& outcome, const TrackedValue& value) {
  auto text = fmt::format("at {}, sampled every {}", format_offset(value.highest()->offset_ns),
                          format_interval(outcome, value));
  if (value.gaps() > 0)
    text += fmt::format(", {} of {} samples", value.count(), value.count() + value.gaps());
  return text;
}

std::string format_byte_count(std::uint64_t bytes) {
  return format_short_bytes(static_cast<double>(bytes));
}

std::string format_row(std::string_view label, std::string_view value, std::string_view kind) {
  return fmt::format("  {:<17} {:>9}  {}\n", label, value, kind);
}

std::string format_peak_row(std::string_view label, const RunOutcome& outcome,
                            const TrackedValue& value, std::string_view detail,
                            bool is_lower_bound = false) {
  if (!value.highest()) return format_row(label, "?", detail);
  const auto kind = format_sampling(outcome, value);
  return format_row(
      label,
      (is_lower_bound || value.gaps() > 0 ? ">=" : "") + format_byte_count(value.highest()->bytes),
      detail.empty() ? kind : fmt::format("{}, {}", kind, detail));
}

// Returns "2 processes were left running".
std::string format_remaining(std::uint32_t count) {
  return count == 1 ? "1 process was left running"
                    : fmt::format("{} processes were left running", count);
}

std::string explain_partial(const RunResult& result) {
  if (result.remaining.count.value_or(0) > 0) return format_remaining(*result.remaining.count);
  return "a process may have left unseen";
}

enum class Bound { exact, sampled, upper, lower };

// Resident memory of the largest process, by all that is known.
struct LargestProcess {
  std::optional<std::uint64_t> bytes;
  Bound bound = Bound::exact;
  std::string explanation;  // without bytes: the reason
};

// Difference of the kernel's counters of resident memory, which each processor updates in batches.
constexpr std::uint64_t counter_slack = std::uint64_t{4} << 20;

LargestProcess find_largest_process(const RunOutcome& outcome) {
  const auto& result = outcome.result;
  const auto& use = result.end.use;
  if (use.is_sampled) return {use.largest_bytes, Bound::sampled, "sampled, at the last reading"};
  const bool is_above_own = result.own_bytes && use.largest_bytes.value_or(0) > *result.own_bytes;
  const bool is_certain = !use.may_include_hmn || is_above_own;
  LargestProcess largest;
  largest.explanation = std::string("exact, ") + use.scope;
  if (use.largest_orphan_bytes) largest.explanation += ", orphans included";
  for (const auto& bytes : {use.largest_orphan_bytes, result.remaining.largest_bytes})
    if (bytes) largest.bytes = std::max(largest.bytes.value_or(0), *bytes);
  if (use.largest_bytes && *use.largest_bytes > largest.bytes.value_or(0)) {
    if (is_certain || !result.is_partial()) largest.bytes = use.largest_bytes;
    if (!is_certain && !result.is_partial()) {
      largest.bound = Bound::upper;
      largest.explanation = result.own_bytes
                                ? "at most: hmn itself used that much when it started the command"
                                : "at most: it may be hmn's own, which is not known";
      largest.explanation += std::string("; ") + use.scope;
    }
  }
  const auto sampled_bytes = outcome.account.largest_bytes();
  if (use.largest_bytes && sampled_bytes > largest.bytes.value_or(0) + counter_slack) {
    largest.bytes = sampled_bytes;
    largest.bound = Bound::lower;
    largest.explanation = "at least: seen in a sample, of a process that nothing waited for";
  }
  if (result.is_partial()) {
    if (!largest.bytes && sampled_bytes > 0) largest.bytes = sampled_bytes;
    largest.bound = Bound::lower;
    largest.explanation = "at least: " + explain_partial(result);
  }
  if (!largest.bytes)
    largest.explanation = use.largest_bytes ? explain_partial(result) : not_reported_by_system;
  return largest;
}

const char* bound_word(Bound bound) {
  if (bound == Bound::upper) return "upper_bound";
  if (bound == Bound::lower) return "lower_bound";
  return bound == Bound::exact ? "exact" : "sampled";
}

const char* bound_sign(Bound bound) {
  if (bound == Bound::upper) return "<=";
  return bound == Bound::exact ? "" : ">=";
}

// Formats the size, with a sign if it is a bound.
std::string format_largest(const RunOutcome& outcome) {
  const auto largest = find_largest_process(outcome);
  return largest.bytes ? bound_sign(largest.bound) + format_byte_count(*largest.bytes) : "?";
}

std::string format_largest_row(const RunOutcome& outcome) {
  return format_row("largest process", format_largest(outcome),
                    find_largest_process(outcome).explanation);
}

// Peak of a group: a bound if it may include other processes, or if processes may have left it.
struct BoundedPeak {
  std::optional<std::uint64_t> bytes;
  Bound bound = Bound::exact;
  std::string explanation;  // without bytes: the reason
};

BoundedPeak find_group_peak(const RunResult& result, const GroupPeak& peak) {
  if (!peak.bytes) return {std::nullopt, Bound::exact, peak.reason};
  const bool may_be_running = result.remaining.count != 0u;
  if (may_be_running && !peak.bound_reason.empty())
    return {std::nullopt, Bound::exact,
            fmt::format("{}, and {}", explain_partial(result), peak.bound_reason)};
  const std::string measure = CommandGroup::kind().measure;
  if (may_be_running) return {peak.bytes, Bound::lower, explain_partial(result) + "; " + measure};
  if (!peak.bound_reason.empty())
    return {peak.bytes, Bound::upper, fmt::format("at most: {}; {}", peak.bound_reason, measure)};
  return {peak.bytes, Bound::exact, "exact, " + measure};
}

std::string format_group_row(std::string_view label, const BoundedPeak& peak) {
  return format_row(label, bound_sign(peak.bound) + format_byte_count(*peak.bytes),
                    escape_for_text(peak.explanation));
}

EnergyReading compute_energy(const RunOutcome& outcome, std::size_t position) {
  const auto& before = outcome.meter.devices()[position].energy;
  const auto& after = outcome.result.energy[position];
  for (const auto* reading : {&before, &after})
    if (!reading->joules)
      return {std::nullopt, reading->reason.empty() ? not_reported_by_driver : reading->reason};
  if (*after.joules < *before.joules) return {std::nullopt, "the counter was reset"};
  // Drivers update it every 20 to 100 ms; no GPU uses nothing.
  if (*after.joules == *before.joules) return {std::nullopt, "the counter did not advance"};
  return {*after.joules - *before.joules, {}};
}

std::optional<std::uint64_t> get_used_before(const WatchedDevice& device) {
  const auto& pool = device.before.memory;
  return pool && is_fresh(*pool) ? pool->used_bytes : std::nullopt;
}

// Returns the driver's value, which is at least that of the samples.
const DriverPeak& get_driver_peak(const RunOutcome& outcome, std::size_t position) {
  return outcome.result.peaks[position];
}

// Returns why the whole device's memory is missing.
std::string explain_missing_use(const DeviceAccount& account) {
  return account.used_reason.empty() ? not_reported_by_driver : account.used_reason;
}

// Returns whether the value is of a single process, and therefore the command's.
bool is_exact(const RunOutcome& outcome, std::size_t position) {
  const auto& driver_peak = get_driver_peak(outcome, position);
  const auto& sampled_peak = outcome.account.devices()[position].command.highest();
  return driver_peak.largest_bytes && driver_peak.processes == 1 && !outcome.result.is_partial() &&
         (!sampled_peak || sampled_peak->bytes <= *driver_peak.largest_bytes);
}

std::string format_driver_peak_row(std::string_view label, const RunOutcome& outcome,
                                   const DriverPeak& driver_peak) {
  const bool is_partial = outcome.result.is_partial();
  return format_row(label, (is_partial ? ">=" : "") + format_byte_count(*driver_peak.largest_bytes),
                    fmt::format("{}, from {}", is_partial ? "at least" : "exact",
                                driver_peak.backend == backend_id::nvml ? "NVML accounting"
                                                                        : "the driver's account"));
}

std::string format_device(const RunOutcome& outcome, std::size_t position) {
  const auto& device = outcome.meter.devices()[position];
  const auto& account = outcome.account.devices()[position];
  auto text = fmt::format("  {}\n", escape_for_text(format_gpu_label(device.before)));
  const auto& reason = account.command.highest() ? std::string() : account.reason;
  const auto& driver_peak = get_driver_peak(outcome, position);
  text += is_exact(outcome, position)
              ? format_driver_peak_row("  the command", outcome, driver_peak)
              : format_peak_row("  the command", outcome, account.command, reason,
                                account.is_lower_bound || outcome.result.is_partial());
  if (driver_peak.largest_bytes && !is_exact(outcome, position))
    text += format_driver_peak_row("  largest process", outcome, driver_peak);
  if (const auto group = find_group_peak(outcome.result, outcome.result.device_groups[position]);
      group.bytes)
    text += format_group_row(fmt::format("  {}", CommandGroup::kind().name), group);
  const auto before = get_used_before(device);
  auto detail = account.used.highest() ? std::string() : explain_missing_use(account);
  if (before)
    detail += fmt::format("{}{}{} before", detail.empty() ? "" : "; ",
                          accuracy_mark(device.before.memory->notes), format_byte_count(*before));
  text +=
      format_peak_row("  whole device", outcome, account.used, detail, account.is_used_lower_bound);
  if (const auto joules = compute_energy(outcome, position).joules)
    text += format_row(
        "  energy",
        *joules < 10 ? fmt::format("{:.2g} J", *joules) : fmt::format("{:.0f} J", *joules),
        "counted by the device, for all processes");
  return text;
}

// Returns the kind of a known value; none for an unknown one.
std::optional<std::string> kind_if_known(bool is_known, const char* kind) {
  return is_known ? std::optional<std::string>(kind) : std::nullopt;
}

// Makes the object of a value, with its kind or the reason why it is missing.
JsonObject make_value_object(const char* kind, std::optional<std::uint64_t> bytes,
                             std::optional<std::uint64_t> time_ns, const std::string& reason) {
  JsonObject object;
  object.add("bytes", bytes)
      .add("at_ns", time_ns)
      .add("kind", kind_if_known(bytes.has_value(), kind));
  return bytes ? object.add_null("reason") : object.add("reason", reason);
}

JsonObject make_group_object(const BoundedPeak& peak) {
  return make_value_object(bound_word(peak.bound), peak.bytes, std::nullopt, peak.explanation);
}

JsonObject make_sampled_object(const RunOutcome& outcome, const TrackedValue& value,
                               const std::string& reason, bool is_lower_bound = false) {
  const auto& peak = value.highest();
  auto object = make_value_object("sampled", peak ? std::optional(peak->bytes) : std::nullopt,
                                  peak ? std::optional(peak->offset_ns) : std::nullopt, reason);
  object.add("lower_bound", peak && (is_lower_bound || value.gaps() > 0));
  return object.add("interval_ns", find_longest_interval(outcome, value))
      .add("samples", value.count());
}

JsonObject make_command_object(const RunOutcome& outcome, std::size_t position) {
  const auto& account = outcome.account.devices()[position];
  if (!is_exact(outcome, position))
    return make_sampled_object(outcome, account.command, account.reason,
                               account.is_lower_bound || outcome.result.is_partial());
  return make_value_object("exact", get_driver_peak(outcome, position).largest_bytes, std::nullopt,
                           "")
      .add("lower_bound", false)
      .add("interval_ns", find_longest_interval(outcome, account.command))
      .add("samples", account.command.count());
}

JsonObject make_energy_object(const RunOutcome& outcome, std::size_t position) {
  JsonObject object;
  const auto energy = compute_energy(outcome, position);
  object.add("joules", energy.joules)
      .add("kind", kind_if_known(energy.joules.has_value(), "counted"));
  return energy.joules ? object.add_null("reason") : object.add("reason", energy.reason);
}

JsonObject make_device_object(const RunOutcome& outcome, std::size_t position) {
  const auto& device = outcome.meter.devices()[position];
  const auto& account = outcome.account.devices()[position];
  const auto& pool = device.before.memory;
  JsonObject object;
  object.add("index", device.before.device.index)
      .add("name", device.before.device.name)
      .add("uuid", device.before.device.uuid)
      .add("pci_bus_id", device.before.device.pci_bus_id)
      .add("total_bytes", pool ? pool->total_bytes : std::nullopt)
      .add("used_before_bytes", get_used_before(device))
      .add("command", make_command_object(outcome, position))
      .add("largest_process",
           make_value_object(bound_word(outcome.result.is_partial() ? Bound::lower : Bound::exact),
                             get_driver_peak(outcome, position).largest_bytes, std::nullopt,
                             get_driver_peak(outcome, position).reason))
      .add("control_group", make_group_object(find_group_peak(
                                outcome.result, outcome.result.device_groups[position])))
      .add("whole_device", make_sampled_object(outcome, account.used, explain_missing_use(account),
                                               account.is_used_lower_bound))
      .add("energy", make_energy_object(outcome, position));
  return object;
}

std::string explain_missing_pss(const RunOutcome& outcome) {
  const auto& reason = outcome.meter.no_processes_reason();
  return reason.empty()
             ? "never more than one process was seen, or it is not reported by the system"
             : reason;
}

std::vector<std::string_view> make_views(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

PlotPanel make_host_panel(const RunOutcome& outcome) {
  const auto& account = outcome.account;
  PlotPanel panel;
  panel.title = "Host memory";
  panel.note = fmt::format("of the command's processes, sampled every {}",
                           format_interval(outcome, account.resident()));
  panel.empty_reason = account.reason();
  panel.series.push_back(
      {"resident, all processes", SeriesColour::first, &account.resident().line(), true});
  if (account.proportional().highest()) {
    // Read more seldom: the value is not known to have moved in a straight line.
    panel.series.push_back(
        {fmt::format("PSS, sampled every {}", format_interval(outcome, account.proportional())),
         SeriesColour::second, &account.proportional().line(), false, true});
  }
  if (account.group().highest())
    panel.series.push_back(
        {CommandGroup::kind().name, SeriesColour::third, &account.group().line(), false});
  return panel;
}

// Returns the same name for devices of one kind, so that their panels share a scale.
std::string name_device_kind(const Gpu& gpu) {
  const auto total = gpu.memory ? gpu.memory->total_bytes : std::nullopt;
  return fmt::format("{} {}", gpu.device.name.value_or("?"), format_digits(total));
}

constexpr const char* not_used_by_command = "not used by the command";

// Returns the reason to omit a device from a list of several: the command did not use it, or ended
// before that was known; empty: it is listed.
std::string explain_omission(const RunOutcome& outcome, std::size_t position) {
  const auto& account = outcome.account.devices()[position];
  const auto& peak = account.command.highest();
  if (get_driver_peak(outcome, position).largest_bytes.value_or(0) > 0) return {};
  if (!peak) return account.reason == ended_too_early ? ended_too_early : "";
  return peak->bytes > 0 || account.is_lower_bound || account.command.gaps() > 0
             ? ""
             : not_used_by_command;
}

// Devices of a report: positions of the listed ones, and indexes of the omitted ones by reason.
struct ReportDevices {
  std::vector<std::size_t> positions;
  std::map<std::string, std::vector<std::uint32_t>> omitted_indexes;
};

// Omits devices only if several share a reason.
ReportDevices select_devices(const RunOutcome& outcome, bool all_devices) {
  ReportDevices devices;
  for (std::size_t i = 0; i < outcome.account.devices().size(); ++i)
    if (const auto reason = explain_omission(outcome, i); !reason.empty() && !all_devices)
      devices.omitted_indexes[reason].push_back(outcome.meter.devices()[i].before.device.index);
  std::erase_if(devices.omitted_indexes, [](const auto& entry) { return entry.second.size() < 2; });
  for (std::size_t i = 0; i < outcome.account.devices().size(); ++i)
    if (!devices.omitted_indexes.contains(explain_omission(outcome, i)))
      devices.positions.push_back(i);
  return devices;
}

PlotPanel make_value_panel(const Gpu& gpu, const char* name, PlotUnit unit, const Curve& values) {
  PlotPanel panel;
  panel.title = fmt::format("GPU {}: {}", gpu.device.index, name);
  panel.note = "of all processes";
  panel.unit = unit;
  panel.scale = fmt::format("{} {}", name_device_kind(gpu), name);
  panel.series.push_back({name, SeriesColour::third, &values, true});
  return panel;
}

PlotPanel make_device_panel(const RunOutcome& outcome, std::size_t position) {
  const auto& device = outcome.meter.devices()[position];
  const auto& account = outcome.account.devices()[position];
  PlotPanel panel;
  panel.title = format_gpu_label(device.before);
  panel.scale = name_device_kind(device.before) + " memory";
  panel.empty_reason = account.reason.empty() ? not_reported_by_driver : account.reason;
  panel.series.push_back({"the command", SeriesColour::first, &account.command.line(), true});
  panel.series.push_back({"whole device", SeriesColour::third, &account.used.line(), false});
  const auto& pool = device.before.memory;
  if (pool && pool->total_bytes) {
    panel.limit = static_cast<double>(*pool->total_bytes);
    panel.limit_name = fmt::format("total: {}", format_short_bytes(*panel.limit));
    panel.note = "of " + format_short_bytes(*panel.limit) + ", ";
  }
  panel.note += "sampled every " + format_interval(outcome, account.used);
  return panel;
}

// Formats for standard error; `include_reasons`: with the reason for a missing control group.
std::string format_run_text(const RunOutcome& outcome, bool include_reasons, bool all_devices) {
  const auto& result = outcome.result;
  auto text = fmt::format("hmn: {}: {} after {:.2f} s\n", escape_for_text(format_command(result)),
                          format_end(result), static_cast<double>(result.elapsed_ns) / ns_per_s);
  text += format_largest_row(outcome);
  text += format_peak_row("all processes", outcome, outcome.account.resident(),
                          outcome.account.resident().highest() ? "shared pages counted in each"
                                                               : outcome.account.reason(),
                          result.is_partial());
  if (outcome.account.proportional().highest())
    text += format_peak_row(
        "  PSS", outcome, outcome.account.proportional(),
        "each shared page divided among its users",
        has_skipped_samples(outcome, outcome.account.proportional()) || result.is_partial());
  const auto group = find_group_peak(result, result.group);
  if (group.bytes)
    text += format_group_row(CommandGroup::kind().name, group);
  else if (include_reasons)
    text += format_row(CommandGroup::kind().name, "?", escape_for_text(group.explanation));
  if (const auto count = result.remaining.count.value_or(0); count > 0)
    text += format_row("left running", fmt::format("{}", count),
                       "not measured since the command ended");
  const auto devices = select_devices(outcome, all_devices);
  for (const auto i : devices.positions) text += format_device(outcome, i);
  for (const auto& [reason, indexes] : devices.omitted_indexes)
    text += format_row(fmt::format("GPU {}", format_ranges(indexes)),
                       reason == not_used_by_command ? "0 B" : "?", reason + "; --all lists them");
  if (const auto& reason = outcome.meter.no_devices_reason())
    text += format_row("GPUs", "?", escape_for_text(*reason));
  return text;
}

// Formats by docs/schema/run.schema.json.
std::string format_run_json(const RunOutcome& outcome) {
  const auto& result = outcome.result;
  const auto& use = result.end.use;
  const auto largest = find_largest_process(outcome);
  JsonObject largest_object = make_value_object(bound_word(largest.bound), largest.bytes,
                                                std::nullopt, largest.explanation);
  largest_object.add("upper_bound", largest.bytes && largest.bound == Bound::upper)
      .add("lower_bound", largest.bytes && largest.bound == Bound::lower);
  std::vector<JsonObject> devices;
  for (std::size_t i = 0; i < outcome.account.devices().size(); ++i)
    devices.push_back(make_device_object(outcome, i));
  const bool is_control_group = CommandGroup::kind().key == std::string_view("control_group");
  const auto group = make_group_object(find_group_peak(result, result.group));
  JsonObject object;
  object.add("command", make_views(result.command))
      .add("exit_code", std::uint64_t{static_cast<std::uint32_t>(result.end.status)})
      .add("started_unix_ns", result.started_unix_ns)
      .add("elapsed_ns", result.elapsed_ns)
      .add("user_ns", use.user_ns)
      .add("system_ns", use.system_ns)
      .add("largest_process", largest_object)
      .add("all_processes", make_sampled_object(outcome, outcome.account.resident(),
                                                outcome.account.reason(), result.is_partial()))
      .add("proportional",
           make_sampled_object(
               outcome, outcome.account.proportional(), explain_missing_pss(outcome),
               has_skipped_samples(outcome, outcome.account.proportional()) || result.is_partial()))
      .add("control_group",
           is_control_group ? group
                            : make_value_object("exact", std::nullopt, std::nullopt, not_available))
      .add("left_running", result.remaining.count)
      .add("devices", outcome.meter.no_devices_reason() ? std::nullopt : std::optional(devices))
      .add("devices_reason", outcome.meter.no_devices_reason());
  if (!is_control_group) object.add(CommandGroup::kind().key, group);
  return object.text() + "\n";
}

Plot make_plot(const RunOutcome& outcome, bool all_devices) {
  Plot plot;
  plot.title = format_command(outcome.result);
  plot.subtitle = fmt::format("memory over {}; {}; largest process {}",
                              format_offset(outcome.result.elapsed_ns), format_end(outcome.result),
                              format_largest(outcome));
  plot.duration_ns = outcome.result.elapsed_ns;
  plot.panels.push_back(make_host_panel(outcome));
  const auto devices = select_devices(outcome, all_devices);
  for (const auto i : devices.positions) {
    const auto& device = outcome.meter.devices()[i];
    const auto& account = outcome.account.devices()[i];
    plot.panels.push_back(make_device_panel(outcome, i));
    if (!account.load.is_empty() && account.load.highest() > 0)
      plot.panels.push_back(
          make_value_panel(device.before, "load", PlotUnit::percent, account.load));
    if (!account.power.is_empty())
      plot.panels.push_back(
          make_value_panel(device.before, "power", PlotUnit::watts, account.power));
  }
  std::vector<std::string> notes;
  if (const auto count = outcome.result.remaining.count.value_or(0); count > 0)
    notes.push_back(format_remaining(count) + ", and not measured since the command ended");
  for (const auto& [reason, indexes] : devices.omitted_indexes)
    notes.push_back(fmt::format("not shown: GPU {}, {} (--all)", format_ranges(indexes), reason));
  plot.footnote = fmt::format("{}", fmt::join(notes, "; "));
  return plot;
}

// Reads VmHWM rather than ru_maxrss, which includes the parent's size when it started hmn.
std::optional<std::uint64_t> read_own_peak(const Session& session) {
  const auto field = hypomnesis::process_memory_field::peak_resident;
  const auto memory = attempt([&] { return session.library().own_memory(field); });
  return memory ? memory->peak_resident_bytes : std::nullopt;
}

Expected<RunMeter> prepare_meter(const Session& session, const Options& options) {
  const WaitingNotice notice;
  std::optional<std::uint32_t> device_index;
  if (options.device) {
    const auto index = find_device(session, *options.device);
    if (!index) return index.error();
    device_index = *index;
  }
  RunMeter meter(session, device_index, std::chrono::milliseconds(options.run.interval_ms),
                 std::chrono::milliseconds(std::min(options.timeout_ms, default_deadline_ms)));
  meter.find_devices();
  return meter;
}

std::vector<std::uint32_t> list_indexes(const RunMeter& meter) {
  std::vector<std::uint32_t> indexes;
  for (const auto& device : meter.devices()) indexes.push_back(device.before.device.index);
  return indexes;
}

// Timeline of --record, whose file is opened before the command is started.
class TimelineRecorder {
 public:
  explicit TimelineRecorder(const std::optional<OutputTarget>& file) {
    if (!file) return;
    path_ = file->path;
    form_ = choose_timeline_form(path_);
    file_.emplace(path_);
  }
  std::optional<Failure> failure() const {
    return file_ && !file_->is_good() ? std::optional(make_file_failure(path_, file_->error()))
                                      : std::nullopt;
  }
  void begin(std::vector<std::uint32_t> indexes) {
    indexes_ = std::move(indexes);
    if (file_) file_->write(format_timeline_header(form_, indexes_));
  }
  void add(const RunSample& sample) {
    if (file_) file_->write(format_timeline_line(form_, sample, indexes_));
  }

 private:
  std::vector<std::uint32_t> indexes_;
  std::string path_;
  TimelineForm form_ = TimelineForm::json_lines;
  std::optional<OutputFile> file_;
};

// Queue of samples until the search for devices ends, so that every sample has every device.
class SampleQueue {
 public:
  void add(RunSample sample, const RunMeter& meter, TimelineRecorder& recorder) {
    samples_.push_back(std::move(sample));
    if (!meter.is_searching()) flush(meter, recorder);
  }
  const RunAccount& finish(const RunMeter& meter, TimelineRecorder& recorder) {
    flush(meter, recorder);
    return *account_;
  }

 private:
  void flush(const RunMeter& meter, TimelineRecorder& recorder) {
    if (!account_) {
      DeviceSample late;
      late.reason = late.used_reason = "the driver had not answered yet";
      for (auto& sample : samples_) sample.devices.resize(meter.devices().size(), late);
      account_.emplace(meter.devices().size());
      recorder.begin(list_indexes(meter));
    }
    for (const auto& sample : samples_) {
      account_->add(sample);
      recorder.add(sample);
    }
    samples_.clear();
  }

  std::vector<RunSample> samples_;
  std::optional<RunAccount> account_;
};

Expected<Child> start_command(const std::vector<std::string>& command,
                              std::optional<CommandGroup>& group, std::string& no_group_reason) {
  if (!group) return Child::start(command);
  auto result = group->start(command, no_group_reason);
  if (!no_group_reason.empty()) group.reset();
  return result;
}

ExitCode report_run(const RunOutcome& outcome, const TimelineRecorder& recorder,
                    const Options& options, const Style& style) {
  const bool all_devices = options.run.all_devices;
  write_report(format_run_text(outcome, options.trace, all_devices));
  auto code = outcome.result.end.status;
  report_unwritten_file(recorder.failure(), code);
  if (const auto& plot_file = options.run.plot) {
    const auto plot = make_plot(outcome, all_devices);
    report_unwritten_file(
        write_file(*plot_file,
                   plot_file->path == "-" ? draw_text_plot(plot, style) : draw_svg(plot)),
        code);
  }
  for (const auto& file : options.run.reports)
    report_unwritten_file(write_file(file, format_run_json(outcome)), code);
  return code;
}

Expected<ExitCode> run_run(const Session& session, const Options& options, const Style& style) {
  auto meter = prepare_meter(session, options);
  if (!meter) return meter.error();
  RunResult result;
  result.command = options.words;
  const auto roots = read_roots();
  std::optional<CommandGroup> group;
  if (auto new_group = CommandGroup::make(roots))
    group.emplace(*std::move(new_group));
  else
    result.group.reason = new_group.error().message;
  const bool adopts_orphans = adopt_orphans();
  TimelineRecorder recorder(options.run.record);
  if (auto failure = recorder.failure()) return *std::move(failure);

  result.started_unix_ns = unix_time_ns();
  const auto start = Child::Clock::now();
  auto child = start_command(options.words, group, result.group.reason);
  if (!child) return child.error();
  result.own_bytes = read_own_peak(session);
  result.sees_orphans = adopts_orphans || (group && CommandGroup::kind().holds_all);
  ProcessTree tree(roots, child->pid(), adopts_orphans);
  meter->watch(tree, child->pid(), group ? &*group : nullptr);
  SampleQueue samples;
  do {
    samples.add(meter->read(), *meter, recorder);
  } while (!child->wait_until(meter->next()));

  result.end = child->end();
  result.elapsed_ns = static_cast<std::uint64_t>((result.end.time - start).count());
  if (!result.end.lost_reason.empty()) return Failure{result.end.status, result.end.lost_reason};
  if (group) result.group = group->peak();
  result.remaining = meter->find_remaining();
  if (adopts_orphans && result.remaining.count.value_or(0) == 0)
    result.remaining.count = child->has_orphans() ? std::nullopt : std::optional(0U);
  if (result.remaining.count.value_or(0) > 0)
    samples.add(meter->read(RunMeter::Extent::all), *meter, recorder);
  for (const auto& device : meter->devices())
    result.device_groups.push_back(
        group ? group->device_peak(device.before.device.pci_bus_id.value_or("")) : result.group);
  result.energy = meter->finish();
  result.peaks = meter->read_peaks(result.started_unix_ns);
  return report_run({result, samples.finish(*meter, recorder), *meter}, recorder, options, style);
}

constexpr Option run_options[] = {
    {"--all", 0, "", "List and plot all GPUs, also unused ones"},
    {"--record", 0, "FILE", "Write each sample to FILE (.jsonl or .csv)", Completion::file,
     "jsonl csv"},
    {"--plot", 0, "FILE", "Plot to FILE (.svg), or in the terminal (-)", Completion::file, "svg"},
    interval_option("Time between samples [100ms]", "20ms 100ms 1s"),
    json_option("Print the report as a JSON object"),
    output_option,
    force_option("Replace existing files of any name"),
    device_option(),
    command_argument(Occurrence::required),
};

constexpr std::string_view run_examples =
    "Examples:\n"
    "  hmn run python3 -V\n"
    "  hmn run --plot memory.svg --record memory.csv sleep 0.2\n"
    "  hmn run --plot - sleep 0.2           a plot in the terminal\n"
    "  hmn run --json true | jq .largest_process.bytes\n"
    "\n"
    "The command starts at the first word that is not an option, or after --.\n"
    "\n"
    "Exit status: 0 done, else the command's own, or 128 + N if killed by signal N; 2\n"
    "wrong usage, 125 hmn failed, 126 command cannot be run, 127 command not found.\n"
    "See hmn-run(1).";

constexpr std::string_view plot_suffixes[] = {".svg"};

std::optional<Failure> read_run(const Arguments& arguments, Options& options) {
  auto& settings = options.run;
  const bool force = arguments.has("--force");
  if (auto failure = read_interval(arguments, settings.interval_ms)) return failure;
  settings.all_devices = arguments.has("--all");
  if (const auto record = arguments.text("--record")) {
    if (*record == "-") return make_usage_error("--record \"-\": expected a file's path");
    settings.record = {"--record", *record, timeline_suffixes, force};
  }
  if (const auto plot = arguments.text("--plot")) {
    settings.plot = {"--plot", *plot, plot_suffixes, force};
  }
  return read_reports(arguments, settings.reports);
}

}  // namespace

const Command run_command = {
    .id = CommandId::run,
    .name = "run",
    .purpose = "Run a command and report the memory it used",
    .options = run_options,
    .examples = run_examples,
    .read = read_run,
    .run = run_run,
};

}  // namespace hmn::cli
