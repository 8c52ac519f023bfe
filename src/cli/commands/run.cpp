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
  // Memory of hmn itself; none if unknown. The command's first process begins as a copy of hmn,
  // which the kernel may count: a peak up to this may be hmn's.
  std::optional<std::uint64_t> own_bytes;
  bool sees_orphans = false;  // else a descendant may have left unseen
  RemainingProcesses remaining;
  GroupPeak group;
  std::vector<GroupPeak> device_groups;  // ordered as the samples' devices
  std::vector<EnergyReading> energy;     // at the end, in the same order
  std::vector<KeptPeak> peaks;           // in the same order

  // Returns whether every value may be less than the command used or still uses.
  bool is_partial() const { return !sees_orphans || remaining.count != 0u; }
};

struct RunOutcome {
  const RunResult& result;
  const RunAccount& account;
  const RunMeter& meter;
};

constexpr const char* not_by_system = "not reported by the system";
constexpr const char* not_here = "this system has none";
constexpr const char* not_by_driver = "not reported by the driver";

std::string command_text(const RunResult& of) {
  std::string text;
  for (const auto& word : of.command) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string end_text(const RunResult& of) {
  const auto code = fmt::format("exit code {}", static_cast<int>(of.end.status));
  return of.end.signal.empty() ? code : fmt::format("ended by {} ({})", of.end.signal, code);
}

// Returns the longest time between two samples, and before the end: what was in between is not
// known.
std::uint64_t interval_of(const RunOutcome& of, const Tracked& value) {
  return std::max(static_cast<std::uint64_t>(of.meter.interval().count()),
                  value.longest_gap_ns(of.result.elapsed_ns));
}

// Returns whether samples of PSS were left out, which the kernel takes long for.
bool has_left_out(const RunOutcome& of, const Tracked& value) {
  return interval_of(of, value) >= 2 * static_cast<std::uint64_t>(of.meter.interval().count());
}

std::string interval_text(const RunOutcome& of, const Tracked& value) {
  const auto ms = interval_of(of, value) / ns_per_ms;
  return ms >= 10'000 ? fmt::format("{} s", ms / 1000)
                      : fmt::format("{} ms", std::max<std::uint64_t>(ms, 1));
}

// Returns "at 0.4 s, sampled every 100 ms, 4 of 5 samples".
std::string sampled(const RunOutcome& of, const Tracked& value) {
  auto text = fmt::format("at {}, sampled every {}", offset_text(value.highest()->at_ns),
                          interval_text(of, value));
  if (value.gaps() > 0)
    text += fmt::format(", {} of {} samples", value.count(), value.count() + value.gaps());
  return text;
}

std::string text_of(std::uint64_t bytes) {
  return short_bytes(static_cast<double>(bytes));
}

std::string row(std::string_view label, std::string_view value, std::string_view kind) {
  return fmt::format("  {:<17} {:>9}  {}\n", label, value, kind);
}

std::string peak_row(std::string_view label, const RunOutcome& of, const Tracked& value,
                     std::string_view detail, bool at_least = false) {
  if (!value.highest()) return row(label, "?", detail);
  const auto kind = sampled(of, value);
  return row(label, (at_least || value.gaps() > 0 ? ">=" : "") + text_of(value.highest()->bytes),
             detail.empty() ? kind : fmt::format("{}, {}", kind, detail));
}

// Returns "2 processes were left running".
std::string remaining_text(std::uint32_t count) {
  return count == 1 ? "1 process was left running"
                    : fmt::format("{} processes were left running", count);
}

std::string why_partial(const RunResult& of) {
  if (of.remaining.count.value_or(0) > 0) return remaining_text(*of.remaining.count);
  return "a process may have left unseen";
}

enum class Bound { exact, sampled, at_most, at_least };

// Resident memory of the largest process, by all that is known.
struct LargestProcess {
  std::optional<std::uint64_t> bytes;
  Bound is = Bound::exact;
  std::string how;  // without bytes: the reason
};

// Difference of the kernel's counters of resident memory, which each processor updates in batches.
constexpr std::uint64_t counter_slack = std::uint64_t{4} << 20;

LargestProcess find_largest(const RunOutcome& of) {
  const auto& result = of.result;
  const auto& use = result.end.use;
  if (use.is_sampled) return {use.largest_bytes, Bound::sampled, "sampled, at the last reading"};
  const bool is_ours_less = result.own_bytes && use.largest_bytes.value_or(0) > *result.own_bytes;
  const bool is_sure = !use.may_count_us || is_ours_less;
  LargestProcess out;
  out.how = std::string("exact, ") + use.counted;
  if (use.largest_orphan_bytes) out.how += ", orphans included";
  for (const auto& each : {use.largest_orphan_bytes, result.remaining.largest_bytes})
    if (each) out.bytes = std::max(out.bytes.value_or(0), *each);
  if (use.largest_bytes && *use.largest_bytes > out.bytes.value_or(0)) {
    if (is_sure || !result.is_partial()) out.bytes = use.largest_bytes;
    if (!is_sure && !result.is_partial()) {
      out.is = Bound::at_most;
      out.how = result.own_bytes ? "at most: hmn itself used that much when it started the command"
                                 : "at most: it may be hmn's own, which is not known";
      out.how += std::string("; ") + use.counted;
    }
  }
  const auto seen = of.account.largest_bytes();
  if (use.largest_bytes && seen > out.bytes.value_or(0) + counter_slack) {
    out.bytes = seen;
    out.is = Bound::at_least;
    out.how = "at least: seen in a sample, of a process that nothing waited for";
  }
  if (result.is_partial()) {
    if (!out.bytes && seen > 0) out.bytes = seen;
    out.is = Bound::at_least;
    out.how = "at least: " + why_partial(result);
  }
  if (!out.bytes) out.how = use.largest_bytes ? why_partial(result) : not_by_system;
  return out;
}

const char* word(Bound of) {
  if (of == Bound::at_most) return "upper_bound";
  if (of == Bound::at_least) return "lower_bound";
  return of == Bound::exact ? "exact" : "sampled";
}

const char* sign(Bound of) {
  if (of == Bound::at_most) return "<=";
  return of == Bound::exact ? "" : ">=";
}

// Adds the sign of a bound where the value is one.
std::string largest_text(const RunOutcome& of) {
  const auto largest = find_largest(of);
  return largest.bytes ? sign(largest.is) + text_of(*largest.bytes) : "?";
}

std::string largest_row(const RunOutcome& of) {
  return row("largest process", largest_text(of), find_largest(of).how);
}

// Peak of a group, by what else may be in it and what may have left it.
struct BoundedPeak {
  std::optional<std::uint64_t> bytes;
  Bound is = Bound::exact;
  std::string how;  // without bytes: the reason
};

BoundedPeak find_group_peak(const RunResult& of, const GroupPeak& peak) {
  if (!peak.bytes) return {std::nullopt, Bound::exact, peak.why};
  const bool has_left = of.remaining.count != 0u;
  if (has_left && !peak.why_bound.empty())
    return {std::nullopt, Bound::exact, fmt::format("{}, and {}", why_partial(of), peak.why_bound)};
  const std::string measure = CommandGroup::what().measure;
  if (has_left) return {peak.bytes, Bound::at_least, why_partial(of) + "; " + measure};
  if (!peak.why_bound.empty())
    return {peak.bytes, Bound::at_most, fmt::format("at most: {}; {}", peak.why_bound, measure)};
  return {peak.bytes, Bound::exact, "exact, " + measure};
}

std::string group_row(std::string_view label, const BoundedPeak& peak) {
  return row(label, sign(peak.is) + text_of(*peak.bytes), escape_for_text(peak.how));
}

EnergyReading energy_of(const RunOutcome& of, std::size_t i) {
  const auto& before = of.meter.devices()[i].energy;
  const auto& after = of.result.energy[i];
  for (const auto* each : {&before, &after})
    if (!each->joules) return {std::nullopt, each->why.empty() ? not_by_driver : each->why};
  if (*after.joules < *before.joules) return {std::nullopt, "the counter was reset"};
  // Drivers update it every 20 to 100 ms; no GPU uses nothing.
  if (*after.joules == *before.joules) return {std::nullopt, "the counter did not advance"};
  return {*after.joules - *before.joules, {}};
}

std::optional<std::uint64_t> used_before(const WatchedDevice& of) {
  const auto& pool = of.before.memory;
  return pool && is_fresh(*pool) ? pool->used_bytes : std::nullopt;
}

// Returns the driver's value, which is at least that of the samples.
const KeptPeak& kept_of(const RunOutcome& of, std::size_t i) {
  return of.result.peaks[i];
}

// Returns why the whole device's memory is missing.
std::string why_not_used(const DeviceAccount& of) {
  return of.why_used.empty() ? not_by_driver : of.why_used;
}

// Returns whether the value is of a single process, and therefore the command's.
bool is_exact(const RunOutcome& of, std::size_t i) {
  const auto& kept = kept_of(of, i);
  const auto& seen = of.account.devices()[i].command.highest();
  return kept.largest_bytes && kept.processes == 1 && !of.result.is_partial() &&
         (!seen || seen->bytes <= *kept.largest_bytes);
}

std::string kept_row(std::string_view label, const RunOutcome& of, const KeptPeak& kept) {
  const bool is_partial = of.result.is_partial();
  return row(
      label, (is_partial ? ">=" : "") + text_of(*kept.largest_bytes),
      fmt::format("{}, from {}", is_partial ? "at least" : "exact",
                  kept.backend == backend_id::nvml ? "NVML accounting" : "the driver's account"));
}

std::string device_text(const RunOutcome& of, std::size_t i) {
  const auto& device = of.meter.devices()[i];
  const auto& account = of.account.devices()[i];
  auto text = fmt::format("  {}\n", escape_for_text(label_of(device.before)));
  const auto& why = account.command.highest() ? std::string() : account.why;
  const auto& kept = kept_of(of, i);
  text += is_exact(of, i) ? kept_row("  the command", of, kept)
                          : peak_row("  the command", of, account.command, why,
                                     account.is_lower_bound || of.result.is_partial());
  if (kept.largest_bytes && !is_exact(of, i)) text += kept_row("  largest process", of, kept);
  if (const auto group = find_group_peak(of.result, of.result.device_groups[i]); group.bytes)
    text += group_row(fmt::format("  {}", CommandGroup::what().name), group);
  const auto before = used_before(device);
  auto detail = account.used.highest() ? std::string() : why_not_used(account);
  if (before)
    detail += fmt::format("{}{}{} before", detail.empty() ? "" : "; ",
                          mark_of(device.before.memory->notes), text_of(*before));
  text += peak_row("  whole device", of, account.used, detail, account.is_used_lower_bound);
  if (const auto joules = energy_of(of, i).joules)
    text += row("  energy",
                *joules < 10 ? fmt::format("{:.2g} J", *joules) : fmt::format("{:.0f} J", *joules),
                "counted by the device, for all processes");
  return text;
}

// Returns the kind of a value, of which an unknown one has none.
std::optional<std::string> kind_where(bool is_known, const char* kind) {
  return is_known ? std::optional<std::string>(kind) : std::nullopt;
}

// Returns a value with its kind.
JsonObject exact_or_sampled(const char* kind, std::optional<std::uint64_t> bytes,
                            std::optional<std::uint64_t> at_ns, const std::string& why) {
  JsonObject out;
  out.add("bytes", bytes).add("at_ns", at_ns).add("kind", kind_where(bytes.has_value(), kind));
  return bytes ? out.add_null("reason") : out.add("reason", why);
}

JsonObject group_json(const BoundedPeak& peak) {
  return exact_or_sampled(word(peak.is), peak.bytes, std::nullopt, peak.how);
}

JsonObject sampled_value(const RunOutcome& of, const Tracked& value, const std::string& why,
                         bool at_least = false) {
  const auto& peak = value.highest();
  auto out = exact_or_sampled("sampled", peak ? std::optional(peak->bytes) : std::nullopt,
                              peak ? std::optional(peak->at_ns) : std::nullopt, why);
  out.add("lower_bound", peak && (at_least || value.gaps() > 0));
  return out.add("interval_ns", interval_of(of, value)).add("samples", value.count());
}

JsonObject command_value(const RunOutcome& of, std::size_t i) {
  const auto& account = of.account.devices()[i];
  if (!is_exact(of, i))
    return sampled_value(of, account.command, account.why,
                         account.is_lower_bound || of.result.is_partial());
  return exact_or_sampled("exact", kept_of(of, i).largest_bytes, std::nullopt, "")
      .add("lower_bound", false)
      .add("interval_ns", interval_of(of, account.command))
      .add("samples", account.command.count());
}

JsonObject energy_value(const RunOutcome& of, std::size_t i) {
  JsonObject out;
  const auto energy = energy_of(of, i);
  out.add("joules", energy.joules).add("kind", kind_where(energy.joules.has_value(), "counted"));
  return energy.joules ? out.add_null("reason") : out.add("reason", energy.why);
}

JsonObject device_json(const RunOutcome& of, std::size_t i) {
  const auto& device = of.meter.devices()[i];
  const auto& account = of.account.devices()[i];
  const auto& pool = device.before.memory;
  JsonObject out;
  out.add("index", device.before.device.index)
      .add("name", device.before.device.name)
      .add("uuid", device.before.device.uuid)
      .add("pci_bus_id", device.before.device.pci_bus_id)
      .add("total_bytes", pool ? pool->total_bytes : std::nullopt)
      .add("used_before_bytes", used_before(device))
      .add("command", command_value(of, i))
      .add("largest_process",
           exact_or_sampled(word(of.result.is_partial() ? Bound::at_least : Bound::exact),
                            kept_of(of, i).largest_bytes, std::nullopt, kept_of(of, i).why))
      .add("control_group", group_json(find_group_peak(of.result, of.result.device_groups[i])))
      .add("whole_device",
           sampled_value(of, account.used, why_not_used(account), account.is_used_lower_bound))
      .add("energy", energy_value(of, i));
  return out;
}

std::string why_not_proportional(const RunOutcome& of) {
  const auto& why = of.meter.why_no_processes();
  return why.empty() ? "never more than one process was seen, or it is not reported by the system"
                     : why;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

PlotPanel host_panel(const RunOutcome& of) {
  const auto& account = of.account;
  PlotPanel panel;
  panel.title = "Host memory";
  panel.note = fmt::format("of the command's processes, sampled every {}",
                           interval_text(of, account.resident()));
  panel.why_empty = account.why();
  panel.series.push_back({"resident, all processes", Ink::first, &account.resident().line(), true});
  if (account.proportional().highest()) {
    // Read more seldom: the value is not known to have moved in a straight line.
    panel.series.push_back(
        {fmt::format("PSS, sampled every {}", interval_text(of, account.proportional())),
         Ink::second, &account.proportional().line(), false, true});
  }
  if (account.group().highest())
    panel.series.push_back({CommandGroup::what().name, Ink::third, &account.group().line(), false});
  return panel;
}

// Names devices of the same kind, whose panels have one scale.
std::string kind_of(const Gpu& of) {
  const auto total = of.memory ? of.memory->total_bytes : std::nullopt;
  return fmt::format("{} {}", of.device.name.value_or("?"), digits_of(total));
}

constexpr const char* not_used = "not used by the command";

// Returns why a device is left out of a list of several: the command did not use it, or ended too
// early for that to be known; empty: it is shown.
std::string why_summed_up(const RunOutcome& of, std::size_t i) {
  const auto& account = of.account.devices()[i];
  const auto& seen = account.command.highest();
  if (kept_of(of, i).largest_bytes.value_or(0) > 0) return {};
  if (!seen) return account.why == ended_too_early ? ended_too_early : "";
  return seen->bytes > 0 || account.is_lower_bound || account.command.gaps() > 0 ? "" : not_used;
}

// Devices of a report, by their position, and the numbers of those that are summed up, by reason.
struct DeviceList {
  std::vector<std::size_t> shown;
  std::map<std::string, std::vector<std::uint32_t>> summed_up;
};

// Sums up several devices, not a single one.
DeviceList list_devices(const RunOutcome& of, bool all) {
  DeviceList out;
  for (std::size_t i = 0; i < of.account.devices().size(); ++i)
    if (const auto why = why_summed_up(of, i); !why.empty() && !all)
      out.summed_up[why].push_back(of.meter.devices()[i].before.device.index);
  std::erase_if(out.summed_up, [](const auto& each) { return each.second.size() < 2; });
  for (std::size_t i = 0; i < of.account.devices().size(); ++i)
    if (!out.summed_up.contains(why_summed_up(of, i))) out.shown.push_back(i);
  return out;
}

PlotPanel value_panel(const Gpu& of, const char* what, PlotUnit unit, const Curve& values) {
  PlotPanel panel;
  panel.title = fmt::format("GPU {}: {}", of.device.index, what);
  panel.note = "of all processes";
  panel.unit = unit;
  panel.scale = fmt::format("{} {}", kind_of(of), what);
  panel.series.push_back({what, Ink::third, &values, true});
  return panel;
}

PlotPanel device_panel(const RunOutcome& report, std::size_t i) {
  const auto& device = report.meter.devices()[i];
  const auto& of = report.account.devices()[i];
  PlotPanel panel;
  panel.title = label_of(device.before);
  panel.scale = kind_of(device.before) + " memory";
  panel.why_empty = of.why.empty() ? not_by_driver : of.why;
  panel.series.push_back({"the command", Ink::first, &of.command.line(), true});
  panel.series.push_back({"whole device", Ink::third, &of.used.line(), false});
  const auto& pool = device.before.memory;
  if (pool && pool->total_bytes) {
    panel.limit = static_cast<double>(*pool->total_bytes);
    panel.limit_name = fmt::format("total: {}", short_bytes(*panel.limit));
    panel.note = "of " + short_bytes(*panel.limit) + ", ";
  }
  panel.note += "sampled every " + interval_text(report, of.used);
  return panel;
}

// Formats for standard error; with_reasons explains a missing control group.
std::string run_text(const RunOutcome& of, bool with_reasons, bool all_devices) {
  const auto& result = of.result;
  auto text = fmt::format("hmn: {}: {} after {:.2f} s\n", escape_for_text(command_text(result)),
                          end_text(result), static_cast<double>(result.elapsed_ns) / ns_per_s);
  text += largest_row(of);
  text +=
      peak_row("all processes", of, of.account.resident(),
               of.account.resident().highest() ? "shared pages counted in each" : of.account.why(),
               result.is_partial());
  if (of.account.proportional().highest())
    text +=
        peak_row("  PSS", of, of.account.proportional(), "each shared page divided among its users",
                 has_left_out(of, of.account.proportional()) || result.is_partial());
  const auto group = find_group_peak(result, result.group);
  if (group.bytes)
    text += group_row(CommandGroup::what().name, group);
  else if (with_reasons)
    text += row(CommandGroup::what().name, "?", escape_for_text(group.how));
  if (const auto count = result.remaining.count.value_or(0); count > 0)
    text += row("left running", fmt::format("{}", count), "not measured since the command ended");
  const auto devices = list_devices(of, all_devices);
  for (const auto i : devices.shown) text += device_text(of, i);
  for (const auto& [why, indexes] : devices.summed_up)
    text += row(fmt::format("GPU {}", ranges_text(indexes)), why == not_used ? "0 B" : "?",
                why + "; --all lists them");
  if (const auto& why = of.meter.why_no_devices()) text += row("GPUs", "?", escape_for_text(*why));
  return text;
}

// Formats by docs/schema/run.schema.json.
std::string run_json(const RunOutcome& of) {
  const auto& result = of.result;
  const auto& use = result.end.use;
  const auto found = find_largest(of);
  JsonObject largest = exact_or_sampled(word(found.is), found.bytes, std::nullopt, found.how);
  largest.add("upper_bound", found.bytes && found.is == Bound::at_most)
      .add("lower_bound", found.bytes && found.is == Bound::at_least);
  std::vector<JsonObject> devices;
  for (std::size_t i = 0; i < of.account.devices().size(); ++i)
    devices.push_back(device_json(of, i));
  const bool is_control_group = CommandGroup::what().key == std::string_view("control_group");
  const auto group = group_json(find_group_peak(result, result.group));
  JsonObject out;
  out.add("command", views_of(result.command))
      .add("exit_code", std::uint64_t{static_cast<std::uint32_t>(result.end.status)})
      .add("started_unix_ns", result.started_unix_ns)
      .add("elapsed_ns", result.elapsed_ns)
      .add("user_ns", use.user_ns)
      .add("system_ns", use.system_ns)
      .add("largest_process", largest)
      .add("all_processes",
           sampled_value(of, of.account.resident(), of.account.why(), result.is_partial()))
      .add("proportional",
           sampled_value(of, of.account.proportional(), why_not_proportional(of),
                         has_left_out(of, of.account.proportional()) || result.is_partial()))
      .add("control_group", is_control_group
                                ? group
                                : exact_or_sampled("exact", std::nullopt, std::nullopt, not_here))
      .add("left_running", result.remaining.count)
      .add("devices", of.meter.why_no_devices() ? std::nullopt : std::optional(devices))
      .add("devices_reason", of.meter.why_no_devices());
  if (!is_control_group) out.add(CommandGroup::what().key, group);
  return out.text() + "\n";
}

Plot run_plot(const RunOutcome& of, bool all_devices) {
  Plot out;
  out.title = command_text(of.result);
  out.subtitle =
      fmt::format("memory over {}; {}; largest process {}", offset_text(of.result.elapsed_ns),
                  end_text(of.result), largest_text(of));
  out.duration_ns = of.result.elapsed_ns;
  out.panels.push_back(host_panel(of));
  const auto devices = list_devices(of, all_devices);
  for (const auto i : devices.shown) {
    const auto& device = of.meter.devices()[i];
    const auto& account = of.account.devices()[i];
    out.panels.push_back(device_panel(of, i));
    if (!account.load.is_empty() && account.load.highest() > 0)
      out.panels.push_back(value_panel(device.before, "load", PlotUnit::percent, account.load));
    if (!account.power.is_empty())
      out.panels.push_back(value_panel(device.before, "power", PlotUnit::watts, account.power));
  }
  std::vector<std::string> notes;
  if (const auto count = of.result.remaining.count.value_or(0); count > 0)
    notes.push_back(remaining_text(count) + ", and not measured since the command ended");
  for (const auto& [why, indexes] : devices.summed_up)
    notes.push_back(fmt::format("not shown: GPU {}, {} (--all)", ranges_text(indexes), why));
  out.footnote = fmt::format("{}", fmt::join(notes, "; "));
  return out;
}

// Reads VmHWM rather than ru_maxrss, which includes the parent's size when it started hmn.
std::optional<std::uint64_t> own_peak_bytes(const Session& in) {
  const auto field = hypomnesis::process_memory_field::peak_resident;
  const auto own = attempt([&] { return in.library().own_memory(field); });
  return own ? own->peak_resident_bytes : std::nullopt;
}

Expected<RunMeter> prepare(const Session& in, const Options& asked) {
  const WaitingNotice notice;
  std::optional<std::uint32_t> only;
  if (asked.device) {
    const auto index = find_device(in, *asked.device);
    if (!index) return index.why();
    only = *index;
  }
  RunMeter meter(in, only, std::chrono::milliseconds(asked.measured.interval_ms),
                 std::chrono::milliseconds(std::min(asked.timeout_ms, default_deadline_ms)));
  meter.find_devices();
  return meter;
}

std::vector<std::uint32_t> indexes_of(const RunMeter& meter) {
  std::vector<std::uint32_t> all;
  for (const auto& each : meter.devices()) all.push_back(each.before.device.index);
  return all;
}

// Timeline of --record, whose file is opened before the command is started.
class Recorder {
 public:
  explicit Recorder(const std::optional<FileToWrite>& to) {
    if (!to) return;
    path_ = to->path;
    form_ = timeline_form_of(path_);
    file_.emplace(path_);
  }
  std::optional<Failure> why() const {
    return file_ && !file_->is_good() ? std::optional(failed_at(path_, file_->why()))
                                      : std::nullopt;
  }
  void begin(std::vector<std::uint32_t> indexes) {
    indexes_ = std::move(indexes);
    if (file_) file_->write(timeline_header(form_, indexes_));
  }
  void add(const RunSample& sample) {
    if (file_) file_->write(timeline_line(form_, sample, indexes_));
  }

 private:
  std::vector<std::uint32_t> indexes_;
  std::string path_;
  TimelineForm form_ = TimelineForm::json_lines;
  std::optional<OutputFile> file_;
};

// Samples, held until no further device is searched for: each device is in all of them.
class SampleList {
 public:
  void add(RunSample sample, const RunMeter& meter, Recorder& record) {
    held_.push_back(std::move(sample));
    if (!meter.is_searching()) hand_on(meter, record);
  }
  const RunAccount& end(const RunMeter& meter, Recorder& record) {
    hand_on(meter, record);
    return *account_;
  }

 private:
  void hand_on(const RunMeter& meter, Recorder& record) {
    if (!account_) {
      DeviceSample late;
      late.why = late.why_used = "the driver had not answered yet";
      for (auto& each : held_) each.devices.resize(meter.devices().size(), late);
      account_.emplace(meter.devices().size());
      record.begin(indexes_of(meter));
    }
    for (const auto& each : held_) {
      account_->add(each);
      record.add(each);
    }
    held_.clear();
  }

  std::vector<RunSample> held_;
  std::optional<RunAccount> account_;
};

Expected<Child> start(const std::vector<std::string>& command, std::optional<CommandGroup>& group,
                      std::string& why_no_group) {
  if (!group) return Child::start(command);
  auto started = group->start(command, why_no_group);
  if (!why_no_group.empty()) group.reset();
  return started;
}

ExitCode report(const RunOutcome& of, const Recorder& record, const Options& asked,
                const Style& as) {
  const bool all_devices = asked.measured.all_devices;
  write_report(run_text(of, asked.trace, all_devices));
  auto code = of.result.end.status;
  count_unwritten(record.why(), code);
  if (const auto& plot = asked.measured.plot) {
    const auto made = run_plot(of, all_devices);
    count_unwritten(write_file(*plot, plot->path == "-" ? text_of(made, as) : svg_of(made)), code);
  }
  for (const auto& each : asked.measured.reports)
    count_unwritten(write_file(each, run_json(of)), code);
  return code;
}

Expected<ExitCode> run_run(const Session& in, const Options& asked, const Style& as) {
  auto meter = prepare(in, asked);
  if (!meter) return meter.why();
  RunResult result;
  result.command = asked.words;
  const auto roots = roots_from_environment();
  std::optional<CommandGroup> group;
  if (auto made = CommandGroup::make(roots))
    group.emplace(*std::move(made));
  else
    result.group.why = made.why().message;
  const bool adopts = adopt_orphans();
  Recorder record(asked.measured.record);
  if (auto refused = record.why()) return *std::move(refused);

  result.started_unix_ns = unix_time_ns();
  const auto begun = Child::Clock::now();
  auto running = start(asked.words, group, result.group.why);
  if (!running) return running.why();
  result.own_bytes = own_peak_bytes(in);
  result.sees_orphans = adopts || (group && CommandGroup::what().holds_all);
  ProcessTree tree(roots, running->pid(), adopts);
  meter->watch(tree, running->pid(), group ? &*group : nullptr);
  SampleList samples;
  do {
    samples.add(meter->read(), *meter, record);
  } while (!running->wait_until(meter->next()));

  result.end = running->end();
  result.elapsed_ns = static_cast<std::uint64_t>((result.end.at - begun).count());
  if (!result.end.why_lost.empty()) return Failure{result.end.status, result.end.why_lost};
  if (group) result.group = group->peak();
  result.remaining = meter->find_remaining();
  if (adopts && result.remaining.count.value_or(0) == 0)
    result.remaining.count = running->has_orphans() ? std::nullopt : std::optional(0U);
  if (result.remaining.count.value_or(0) > 0)
    samples.add(meter->read(RunMeter::Extent::all), *meter, record);
  for (const auto& each : meter->devices())
    result.device_groups.push_back(
        group ? group->device_peak(each.before.device.pci_bus_id.value_or("")) : result.group);
  result.energy = meter->end();
  result.peaks = meter->peaks(result.started_unix_ns);
  return report({result, samples.end(*meter, record), *meter}, record, asked, as);
}

constexpr Option options_of_run[] = {
    {"--all", 0, "", "List and plot all GPUs, also unused ones"},
    {"--record", 0, "FILE", "Write each sample to FILE (.jsonl or .csv)", Completion::file,
     "jsonl csv"},
    {"--plot", 0, "FILE", "Plot to FILE (.svg), or in the terminal (-)", Completion::file, "svg"},
    interval_option("Time between samples [100ms]", "20ms 100ms 1s"),
    json_option("Print the report as a JSON object"),
    output_option,
    force_option("Replace existing files of any name"),
    device_option(),
    command_argument(Uses::required),
};

constexpr std::string_view examples_of_run =
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

std::optional<Failure> read_run(const Arguments& from, Options& to) {
  auto& all = to.measured;
  const bool force = from.has("--force");
  if (auto wrong = read_interval(from, all.interval_ms)) return wrong;
  all.all_devices = from.has("--all");
  if (const auto record = from.text("--record")) {
    if (*record == "-") return misused("--record \"-\": expected a file's path");
    all.record = {"--record", *record, timeline_suffixes, force};
  }
  if (const auto plot = from.text("--plot")) {
    all.plot = {"--plot", *plot, plot_suffixes, force};
  }
  return read_reports(from, all.reports);
}

}  // namespace

const CommandEntry run_command = {
    .id = Command::run,
    .name = "run",
    .purpose = "Run a command and report the memory it used",
    .takes = options_of_run,
    .examples = examples_of_run,
    .read = read_run,
    .run = run_run,
};

}  // namespace hmn::cli
