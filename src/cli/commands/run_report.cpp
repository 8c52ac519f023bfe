// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/measure/freshness.hpp"
#include "cli/text/axis.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/json.hpp"
#include "cli/text/numbers.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::backend_id;

constexpr const char* not_by_system = "not reported by the system";
constexpr const char* not_here = "this system has none";
constexpr const char* not_by_driver = "not reported by the driver";

std::string command_text(const run_result& of) {
  std::string text;
  for (const auto& word : of.command) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string end_text(const run_result& of) {
  const auto code = fmt::format("exit code {}", static_cast<int>(of.end.status));
  return of.end.signal.empty() ? code : fmt::format("ended by {} ({})", of.end.signal, code);
}

// Returns the longest time between two samples, and before the end: what was in between is not
// known.
std::uint64_t interval_of(const run_outcome& of, const tracked& value) {
  return std::max(static_cast<std::uint64_t>(of.meter.interval().count()),
                  value.longest_gap_ns(of.result.elapsed_ns));
}

// Returns whether samples of PSS were left out, which the kernel takes long for.
bool has_left_out(const run_outcome& of, const tracked& value) {
  return interval_of(of, value) >= 2 * static_cast<std::uint64_t>(of.meter.interval().count());
}

std::string interval_text(const run_outcome& of, const tracked& value) {
  const auto ms = interval_of(of, value) / ns_per_ms;
  return ms >= 10'000 ? fmt::format("{} s", ms / 1000)
                      : fmt::format("{} ms", std::max<std::uint64_t>(ms, 1));
}

// Returns "at 0.4 s, sampled every 100 ms, 4 of 5 samples".
std::string sampled(const run_outcome& of, const tracked& value) {
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

std::string peak_row(std::string_view label, const run_outcome& of, const tracked& value,
                     std::string_view detail, bool at_least = false) {
  if (!value.highest()) return row(label, "?", detail);
  const auto kind = sampled(of, value);
  return row(label, (at_least || value.gaps() > 0 ? ">=" : "") + text_of(value.highest()->bytes),
             detail.empty() ? kind : fmt::format("{}, {}", kind, detail));
}

bool is_largest_sure(const run_result& of) {
  const auto& use = of.end.use;
  return !use.may_count_us || (of.own_bytes && use.largest_bytes.value_or(0) > *of.own_bytes);
}

// Adds the sign of a bound where the value is one.
std::string largest_text(const run_result& of) {
  const auto& bytes = of.end.use.largest_bytes;
  if (!bytes) return "?";
  const char* const sign = of.end.use.is_sampled ? ">=" : is_largest_sure(of) ? "" : "<=";
  return sign + text_of(*bytes);
}

std::string largest_row(const run_result& of) {
  std::string how = of.own_bytes ? "at most: hmn itself used that much when it started the command"
                                 : "at most: it may be hmn's own, which is not known";
  if (!of.end.use.largest_bytes)
    how = not_by_system;
  else if (of.end.use.is_sampled)
    how = "sampled, at the last reading";
  else if (is_largest_sure(of))
    how = std::string("exact, ") + of.end.use.counted;
  return row("largest process", largest_text(of), how);
}

energy_reading energy_of(const run_outcome& of, std::size_t i) {
  const auto& before = of.meter.devices()[i].energy;
  const auto& after = of.result.energy[i];
  for (const auto* each : {&before, &after})
    if (!each->joules) return {std::nullopt, each->why.empty() ? not_by_driver : each->why};
  if (*after.joules < *before.joules) return {std::nullopt, "the counter was reset"};
  // Drivers update it every 20 to 100 ms; no GPU uses nothing.
  if (*after.joules == *before.joules) return {std::nullopt, "the counter did not advance"};
  return {*after.joules - *before.joules, {}};
}

std::optional<std::uint64_t> used_before(const watched_device& of) {
  const auto& pool = of.before.memory;
  return pool && is_fresh(*pool) ? pool->used_bytes : std::nullopt;
}

// Returns the driver's value, which is at least that of the samples.
const kept_peak& kept_of(const run_outcome& of, std::size_t i) {
  return of.result.peaks[i];
}

// Returns why the whole device's memory is missing.
std::string why_not_used(const device_account& of) {
  return of.why_used.empty() ? not_by_driver : of.why_used;
}

// Returns whether the value is of a single process, and therefore the command's.
bool is_exact(const run_outcome& of, std::size_t i) {
  const auto& kept = kept_of(of, i);
  const auto& seen = of.account.devices()[i].command.highest();
  return kept.largest_bytes && kept.processes == 1 && (!seen || seen->bytes <= *kept.largest_bytes);
}

std::string kept_row(std::string_view label, const kept_peak& kept) {
  return row(label, text_of(*kept.largest_bytes),
             kept.backend == backend_id::nvml ? "exact, from NVML accounting"
                                              : "exact, from the driver's account");
}

std::string device_text(const run_outcome& of, std::size_t i) {
  const auto& device = of.meter.devices()[i];
  const auto& account = of.account.devices()[i];
  auto text = fmt::format("  {}\n", escape_for_text(label_of(device.before)));
  const auto& why = account.command.highest() ? std::string() : account.why;
  const auto& kept = kept_of(of, i);
  text += is_exact(of, i)
              ? kept_row("  the command", kept)
              : peak_row("  the command", of, account.command, why, account.is_lower_bound);
  if (kept.largest_bytes && !is_exact(of, i)) text += kept_row("  largest process", kept);
  const auto before = used_before(device);
  auto detail = account.used.highest() ? std::string() : why_not_used(account);
  if (before) detail += fmt::format("{}{} before", detail.empty() ? "" : "; ", text_of(*before));
  text += peak_row("  whole device", of, account.used, detail);
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
json_object exact_or_sampled(const char* kind, std::optional<std::uint64_t> bytes,
                             std::optional<std::uint64_t> at_ns, const std::string& why) {
  json_object out;
  out.add("bytes", bytes).add("at_ns", at_ns).add("kind", kind_where(bytes.has_value(), kind));
  return bytes ? out.add_null("reason") : out.add("reason", why);
}

json_object sampled_value(const run_outcome& of, const tracked& value, const std::string& why,
                          bool at_least = false) {
  const auto& peak = value.highest();
  auto out = exact_or_sampled("sampled", peak ? std::optional(peak->bytes) : std::nullopt,
                              peak ? std::optional(peak->at_ns) : std::nullopt, why);
  out.add("lower_bound", peak && (at_least || value.gaps() > 0));
  return out.add("interval_ns", interval_of(of, value)).add("samples", value.count());
}

json_object command_value(const run_outcome& of, std::size_t i) {
  const auto& account = of.account.devices()[i];
  if (!is_exact(of, i))
    return sampled_value(of, account.command, account.why, account.is_lower_bound);
  return exact_or_sampled("exact", kept_of(of, i).largest_bytes, std::nullopt, "")
      .add("lower_bound", false)
      .add("interval_ns", interval_of(of, account.command))
      .add("samples", account.command.count());
}

json_object energy_value(const run_outcome& of, std::size_t i) {
  json_object out;
  const auto energy = energy_of(of, i);
  out.add("joules", energy.joules).add("kind", kind_where(energy.joules.has_value(), "counted"));
  return energy.joules ? out.add_null("reason") : out.add("reason", energy.why);
}

json_object device_json(const run_outcome& of, std::size_t i) {
  const auto& device = of.meter.devices()[i];
  const auto& account = of.account.devices()[i];
  const auto& pool = device.before.memory;
  json_object out;
  out.add("index", device.before.device.index)
      .add("name", device.before.device.name)
      .add("uuid", device.before.device.uuid)
      .add("pci_bus_id", device.before.device.pci_bus_id)
      .add("total_bytes", pool ? pool->total_bytes : std::nullopt)
      .add("used_before_bytes", used_before(device))
      .add("command", command_value(of, i))
      .add("largest_process", exact_or_sampled("exact", kept_of(of, i).largest_bytes, std::nullopt,
                                               kept_of(of, i).why))
      .add("whole_device", sampled_value(of, account.used, why_not_used(account)))
      .add("energy", energy_value(of, i));
  return out;
}

std::string why_not_proportional(const run_outcome& of) {
  const auto& why = of.meter.why_no_processes();
  return why.empty() ? "never more than one process was seen, or it is not reported by the system"
                     : why;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

plot_panel host_panel(const run_account& of) {
  plot_panel panel;
  panel.title = "Host memory";
  panel.note = "of the command's processes";
  panel.why_empty = of.why();
  panel.series.push_back({"resident, all processes", ink::first, &of.resident().line(), true});
  if (of.proportional().highest())
    panel.series.push_back({"PSS", ink::second, &of.proportional().line(), false});
  if (of.group().highest())
    panel.series.push_back({command_group::what().name, ink::third, &of.group().line(), false});
  return panel;
}

// Names devices of the same kind, whose panels have one scale.
std::string kind_of(const gpu& of) {
  const auto total = of.memory ? of.memory->total_bytes : std::nullopt;
  return fmt::format("{} {}", of.device.name.value_or("?"), digits_of(total));
}

// Returns whether a device did nothing that a plot could show: the command did not use it, and
// its memory and its load did not change.
bool is_unchanged(const device_account& of) {
  constexpr double least_change = 16.0 * mib;
  const auto& used = of.used.line();
  const auto& command = of.command.highest();
  if (used.is_empty() || !command || command->bytes > 0 || of.is_lower_bound) return false;
  if (of.used.gaps() > 0 || of.command.gaps() > 0) return false;
  const bool has_load = !of.load.is_empty() && of.load.highest() > 0;
  return !has_load && used.highest() - used.lowest() < least_change;
}

plot_panel value_panel(const gpu& of, const char* what, plot_unit unit, const curve& values) {
  plot_panel panel;
  panel.title = fmt::format("GPU {}: {}", of.device.index, what);
  panel.note = "of all processes";
  panel.unit = unit;
  panel.scale = fmt::format("{} {}", kind_of(of), what);
  panel.series.push_back({what, ink::third, &values, true});
  return panel;
}

plot_panel device_panel(const watched_device& device, const device_account& of) {
  plot_panel panel;
  panel.title = label_of(device.before);
  panel.scale = kind_of(device.before) + " memory";
  panel.why_empty = of.why.empty() ? not_by_driver : of.why;
  panel.series.push_back({"the command", ink::first, &of.command.line(), true});
  panel.series.push_back({"whole device", ink::third, &of.used.line(), false});
  const auto& pool = device.before.memory;
  if (pool && pool->total_bytes) {
    panel.limit = static_cast<double>(*pool->total_bytes);
    panel.limit_name = fmt::format("total: {}", short_bytes(*panel.limit));
    panel.note = "of " + short_bytes(*panel.limit);
  }
  return panel;
}

}  // namespace

std::string run_text(const run_outcome& of, bool with_reasons) {
  const auto& result = of.result;
  auto text = fmt::format("hmn: {}: {} after {:.2f} s\n", escape_for_text(command_text(result)),
                          end_text(result), static_cast<double>(result.elapsed_ns) / ns_per_s);
  text += largest_row(result);
  text +=
      peak_row("all processes", of, of.account.resident(),
               of.account.resident().highest() ? "shared pages counted in each" : of.account.why());
  if (of.account.proportional().highest())
    text +=
        peak_row("  PSS", of, of.account.proportional(), "each shared page divided among its users",
                 has_left_out(of, of.account.proportional()));
  if (result.group_bytes)
    text += row(command_group::what().name, text_of(*result.group_bytes),
                command_group::what().measure);
  else if (with_reasons)
    text += row(command_group::what().name, "?", escape_for_text(result.why_no_group));
  for (std::size_t i = 0; i < of.account.devices().size(); ++i) text += device_text(of, i);
  if (const auto& why = of.meter.why_no_devices()) text += row("GPUs", "?", escape_for_text(*why));
  return text;
}

std::string run_json(const run_outcome& of) {
  const auto& result = of.result;
  const auto& use = result.end.use;
  const bool is_bound = use.largest_bytes && !is_largest_sure(result);
  json_object largest = exact_or_sampled(use.is_sampled ? "sampled"
                                         : is_bound     ? "upper_bound"
                                                        : "exact",
                                         use.largest_bytes, std::nullopt, not_by_system);
  largest.add("upper_bound", is_bound);
  std::vector<json_object> devices;
  for (std::size_t i = 0; i < of.account.devices().size(); ++i)
    devices.push_back(device_json(of, i));
  const bool is_control_group = command_group::what().key == std::string_view("control_group");
  const auto group =
      exact_or_sampled("exact", result.group_bytes, std::nullopt, result.why_no_group);
  json_object out;
  out.add("command", views_of(result.command))
      .add("exit_code", std::uint64_t{static_cast<std::uint32_t>(result.end.status)})
      .add("started_unix_ns", result.started_unix_ns)
      .add("elapsed_ns", result.elapsed_ns)
      .add("user_ns", use.user_ns)
      .add("system_ns", use.system_ns)
      .add("largest_process", largest)
      .add("all_processes", sampled_value(of, of.account.resident(), of.account.why()))
      .add("proportional", sampled_value(of, of.account.proportional(), why_not_proportional(of),
                                         has_left_out(of, of.account.proportional())))
      .add("control_group", is_control_group
                                ? group
                                : exact_or_sampled("exact", std::nullopt, std::nullopt, not_here))
      .add("devices", of.meter.why_no_devices() ? std::nullopt : std::optional(devices))
      .add("devices_reason", of.meter.why_no_devices());
  if (!is_control_group) out.add(command_group::what().key, group);
  return out.text() + "\n";
}

plot run_plot(const run_outcome& of) {
  plot out;
  out.title = command_text(of.result);
  out.subtitle = fmt::format("memory over {}; {}; largest process {}; sampled every {}",
                             offset_text(of.result.elapsed_ns), end_text(of.result),
                             largest_text(of.result), interval_text(of, of.account.resident()));
  out.duration_ns = of.result.elapsed_ns;
  out.panels.push_back(host_panel(of.account));
  std::vector<std::uint32_t> unchanged;
  for (std::size_t i = 0; i < of.account.devices().size(); ++i) {
    const auto& device = of.meter.devices()[i];
    const auto& account = of.account.devices()[i];
    if (is_unchanged(account)) {
      unchanged.push_back(device.before.device.index);
      continue;
    }
    out.panels.push_back(device_panel(device, account));
    if (!account.load.is_empty() && account.load.highest() > 0)
      out.panels.push_back(value_panel(device.before, "load", plot_unit::percent, account.load));
    if (!account.power.is_empty())
      out.panels.push_back(value_panel(device.before, "power", plot_unit::watts, account.power));
  }
  if (!unchanged.empty())
    out.footnote = fmt::format("not shown: GPU {}, where nothing changed", ranges_text(unchanged));
  return out;
}

}  // namespace hmn::cli
