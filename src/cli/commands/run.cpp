// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
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
struct run_result {
  std::vector<std::string> command;
  process_end end;
  std::uint64_t started_unix_ns = 0;
  std::uint64_t elapsed_ns = 0;
  // Memory of hmn itself; none if unknown. The command's first process begins as a copy of hmn,
  // which the kernel may count: a peak up to this may be hmn's.
  std::optional<std::uint64_t> own_bytes;
  std::optional<std::uint64_t> group_bytes;
  std::string why_no_group;
  std::vector<energy_reading> energy;  // at the end, ordered as the samples' devices
  std::vector<kept_peak> peaks;        // in the same order
};

struct run_outcome {
  const run_result& result;
  const run_account& account;
  const run_meter& meter;
};

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
      .add("whole_device",
           sampled_value(of, account.used, why_not_used(account), account.is_used_lower_bound))
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

// Formats for standard error; with_reasons explains a missing control group.
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

// Formats by docs/schema/run.schema.json.
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

// Reads VmHWM rather than ru_maxrss, which includes the parent's size when it started hmn.
std::optional<std::uint64_t> own_peak_bytes(const session& in) {
  const auto field = hypomnesis::process_memory_field::peak_resident;
  const auto own = attempt([&] { return in.library().own_memory(field); });
  return own ? own->peak_resident_bytes : std::nullopt;
}

expected<run_meter> prepare(const session& in, const options& asked) {
  const waiting_notice notice;
  std::optional<std::uint32_t> only;
  if (asked.device) {
    const auto index = find_device(in, *asked.device);
    if (!index) return index.why();
    only = *index;
  }
  run_meter meter(in, only, std::chrono::milliseconds(asked.measured.interval_ms),
                  std::chrono::milliseconds(std::min(asked.timeout_ms, default_deadline_ms)));
  meter.find_devices();
  return meter;
}

std::vector<std::uint32_t> indexes_of(const run_meter& meter) {
  std::vector<std::uint32_t> all;
  for (const auto& each : meter.devices()) all.push_back(each.before.device.index);
  return all;
}

// Timeline of --record, whose file is opened before the command is started.
class recorder {
 public:
  explicit recorder(const std::optional<file_to_write>& to) {
    if (!to) return;
    path_ = to->path;
    form_ = *timeline_form_of(path_);
    file_.emplace(path_);
  }
  std::optional<failure> why() const {
    return file_ && !file_->is_good() ? std::optional(failed_at(path_, file_->why()))
                                      : std::nullopt;
  }
  void begin(std::vector<std::uint32_t> indexes) {
    indexes_ = std::move(indexes);
    if (file_) file_->write(timeline_header(form_, indexes_));
  }
  void add(const run_sample& sample) {
    if (file_) file_->write(timeline_line(form_, sample, indexes_));
  }

 private:
  std::vector<std::uint32_t> indexes_;
  std::string path_;
  timeline_form form_ = timeline_form::json_lines;
  std::optional<output_file> file_;
};

// Samples, held until no further device is searched for: each device is in all of them.
class sample_list {
 public:
  void add(run_sample sample, const run_meter& meter, recorder& record) {
    held_.push_back(std::move(sample));
    if (!meter.is_searching()) hand_on(meter, record);
  }
  const run_account& end(const run_meter& meter, recorder& record) {
    hand_on(meter, record);
    return *account_;
  }

 private:
  void hand_on(const run_meter& meter, recorder& record) {
    if (!account_) {
      device_sample late;
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

  std::vector<run_sample> held_;
  std::optional<run_account> account_;
};

expected<child> start(const std::vector<std::string>& command, std::optional<command_group>& group,
                      std::string& why_no_group) {
  if (!group) return child::start(command);
  auto started = group->start(command, why_no_group);
  if (!why_no_group.empty()) group.reset();
  return started;
}

exit_code report(const run_outcome& of, const recorder& record, const options& asked,
                 const style& as) {
  write_report(run_text(of, asked.trace));
  auto code = of.result.end.status;
  count_unwritten(record.why(), code);
  if (const auto& plot = asked.measured.plot) {
    const auto made = run_plot(of);
    count_unwritten(write_file(*plot, plot->path == "-" ? text_of(made, as) : svg_of(made)), code);
  }
  for (const auto& each : asked.measured.reports)
    count_unwritten(write_file(each, run_json(of)), code);
  return code;
}

expected<exit_code> run_run(const session& in, const options& asked, const style& as) {
  auto meter = prepare(in, asked);
  if (!meter) return meter.why();
  run_result result;
  result.command = asked.words;
  const auto roots = roots_from_environment();
  std::optional<command_group> group;
  if (auto made = command_group::make(roots))
    group.emplace(*std::move(made));
  else
    result.why_no_group = made.why().message;
  recorder record(asked.measured.record);
  if (auto refused = record.why()) return *std::move(refused);

  result.started_unix_ns = unix_time_ns();
  const auto begun = child::clock::now();
  auto running = start(asked.words, group, result.why_no_group);
  if (!running) return running.why();
  result.own_bytes = own_peak_bytes(in);
  process_tree tree(roots, running->pid());
  meter->watch(tree, running->pid(), group ? &*group : nullptr);
  sample_list samples;
  do {
    samples.add(meter->read(), *meter, record);
  } while (!running->wait_until(meter->next()));

  result.end = running->end();
  result.elapsed_ns = static_cast<std::uint64_t>((result.end.at - begun).count());
  if (!result.end.why_lost.empty()) return failure{result.end.status, result.end.why_lost};
  if (group) {
    result.group_bytes = group->peak_bytes();
    if (!result.group_bytes) result.why_no_group = "not reported by the system";
  }
  result.energy = meter->end();
  result.peaks = meter->peaks(result.started_unix_ns);
  return report({result, samples.end(*meter, record), *meter}, record, asked, as);
}

constexpr option options_of_run[] = {
    {"--record", 0, "FILE", "Write each sample to FILE (.jsonl or .csv)", completion::file,
     "jsonl csv"},
    {"--plot", 0, "FILE", "Plot to FILE (.svg), or in the terminal (-)", completion::file, "svg"},
    interval_option("Time between samples [100ms]", "20ms 100ms 1s"),
    json_option("Print the report as a JSON object"),
    output_option,
    force_option("Replace existing files of any name"),
    device_option(),
    command_argument(uses::required),
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

std::optional<failure> read_run(const arguments& from, options& to) {
  auto& all = to.measured;
  const bool force = from.has("--force");
  if (auto wrong = read_interval(from, all.interval_ms)) return wrong;
  if (const auto record = from.text("--record")) {
    if (const auto form = timeline_form_of(*record); !form) return form.why();
    all.record = {"--record", *record, timeline_suffixes, force};
  }
  if (const auto plot = from.text("--plot")) {
    if (*plot != "-" && !plot->ends_with(".svg"))
      return misused(fmt::format(
          "--plot \"{}\": expected a file whose name ends in .svg, or - for the terminal", *plot));
    all.plot = {"--plot", *plot, plot_suffixes, force};
  }
  return read_reports(from, all.reports);
}

}  // namespace

const command_entry run_command = {
    .id = command::run,
    .name = "run",
    .purpose = "Run a command and report the memory it used",
    .takes = options_of_run,
    .examples = examples_of_run,
    .read = read_run,
    .run = run_run,
};

}  // namespace hmn::cli
