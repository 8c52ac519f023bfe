// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/json.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::metric_id;
using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::status_code;

struct GpuMetrics {
  Gpu on;
  std::vector<hypomnesis::metric> metrics;
  std::vector<hypomnesis::diagnostic> missing;  // of its metrics only
  std::vector<hypomnesis::group> groups;
};

using Align = Table::Align;

std::string instance_text(const hypomnesis::metric& of) {
  std::string text(hypomnesis::instance_name(of.id, of.instance));
  if (text.empty() && of.instance != 0) text = fmt::to_string(of.instance);
  return text.empty() ? "-" : text;
}

// Formats three decimals without trailing zeros.
std::string number_text(double value) {
  auto text = fmt::format("{:.3f}", value);
  if (const auto point = text.find('.'); point != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.size() == point + 1) text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string duration_text(double ns) {
  struct {
    double ns;
    const char* name;
  } constexpr units[] = {{3.6e12, "h"}, {6e10, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const auto& unit : units)
    if (ns >= unit.ns) return fmt::format("{} {}", number_text(ns / unit.ns), unit.name);
  return fmt::format("{} ns", number_text(ns));
}

std::string value_text(const hypomnesis::metric& of) {
  const std::string text(mark_of(of.notes));
  const std::string_view unit = hypomnesis::unit(of.id);
  if (!of.count && !of.value) return "?";
  if (unit == "ns")
    return text + duration_text(of.count ? static_cast<double>(*of.count) : *of.value);
  return text + (of.count ? fmt::to_string(*of.count) : number_text(*of.value)) +
         (unit.empty() ? "" : " ") + std::string(unit);
}

std::string window_text(const hypomnesis::metric& of) {
  return of.window_ns ? duration_text(static_cast<double>(*of.window_ns)) : "-";
}

template <class Record>
std::string source_text(const Record& of) {
  return std::string(or_unknown(source_word(of.backend))) + staleness(of.notes, of.age_ns);
}

// Names what is missing: "temperature", or "temperature (hotspot)".
std::string missing_name(const hypomnesis::diagnostic& missing) {
  if (!missing.metric) return "metrics";
  const std::string name(hypomnesis::name(*missing.metric));
  const std::uint32_t instance = missing.metric_instance.value_or(0);
  if (instance == 0) return name;
  const auto word = hypomnesis::instance_name(*missing.metric, instance);
  return fmt::format("{} ({})", name, word.empty() ? fmt::to_string(instance) : std::string(word));
}

std::string missing_line(const hypomnesis::diagnostic& of, const Style& as) {
  const auto more = of.count > 1 ? fmt::format(" (and {} more like it)", of.count - 1) : "";
  return fmt::format("{}: unknown: {}{}\n", missing_name(of),
                     escape_for_text(of.message, as.ascii_only), more);
}

std::string why_none(const hypomnesis::device& device) {
  const auto state = state_word(device.state);
  if (device.state != run_state::ready && state)
    return fmt::format("metrics: unknown: the device is {}\n", *state);
  return "metrics: none, not reported by any source\n";
}

std::vector<std::string> missing_lines(const GpuMetrics& of, bool that_matter, const Style& as) {
  std::vector<std::string> lines;
  for (const auto& each : of.missing) {
    auto line = missing_line(each, as);
    if (matters(each) == that_matter && std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  }
  return lines;
}

// Lists unsupported metrics on request, and for a device that has no others.
std::string missing_text(const GpuMetrics& of, bool with_unsupported, const Style& as) {
  auto lines = missing_lines(of, true, as);
  const auto unsupported = missing_lines(of, false, as);
  const bool is_all = of.metrics.empty() && lines.empty();
  if (is_all || with_unsupported)
    lines.insert(lines.end(), unsupported.begin(), unsupported.end());
  else if (!unsupported.empty())
    lines.push_back(fmt::format("{} more not supported: --unsupported lists them with the reason\n",
                                unsupported.size()));
  if (lines.empty() && is_all) lines.push_back(why_none(of.on.device));
  return fmt::format("{}", fmt::join(lines, ""));
}

JsonObject& begin(std::vector<JsonObject>& objects, const hypomnesis::device& device) {
  return objects.emplace_back()
      .add("device_index", device.index)
      .add("device_name", device.name)
      .add("device_uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("parent_index", device.parent_index);
}

std::optional<std::string_view> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

void write_metric(const hypomnesis::metric& of, JsonObject& out) {
  out.add("metric", hypomnesis::name(of.id))
      .add("instance", of.instance)
      .add("instance_name", unless_empty(hypomnesis::instance_name(of.id, of.instance)))
      .add("unit", unless_empty(hypomnesis::unit(of.id)))
      .add("value", of.value)
      .add("count", of.count)
      .add("window_ns", of.window_ns)
      .add("backend", source_word(of.backend))
      .add("age_ns", of.age_ns)
      .add("notes", note_words(of.notes))
      .add_null("status")
      .add_null("reason");
}

void write_missing(const hypomnesis::diagnostic& of, JsonObject& out) {
  const auto id = of.metric;
  out.add("metric", id ? std::optional(hypomnesis::name(*id)) : std::nullopt);
  const auto name = id ? hypomnesis::instance_name(*id, of.metric_instance.value_or(0)) : "";
  out.add("instance", of.metric_instance).add("instance_name", unless_empty(name));
  out.add("unit", id ? unless_empty(hypomnesis::unit(*id)) : std::nullopt);
  for (const char* key : {"value", "count", "window_ns"}) out.add_null(key);
  out.add("backend", source_word(of.backend))
      .add_null("age_ns")
      .add("notes", note_words(of.notes))
      .add("status", hypomnesis::name(of.status))
      .add("reason", of.message);
}

void write_group(const hypomnesis::group& of, JsonObject& out) {
  out.add("group", of.name)
      .add("used_bytes", of.used_bytes)
      .add("limit_bytes", of.limit_bytes)
      .add("backend", source_word(of.backend))
      .add("age_ns", of.age_ns)
      .add("notes", note_words(of.notes));
}

// Includes diagnostics of a device that returns no data at all, which also cover its metrics.
bool is_of_metrics(const hypomnesis::diagnostic& diagnostic) noexcept {
  return diagnostic.subject == part::metrics && diagnostic.device_index;
}

// Returns whether it is about a value of telemetry that is no metric and that this command lists
// only where the driver gives none that can be.
bool is_of_state(const hypomnesis::diagnostic& diagnostic) noexcept {
  constexpr auto states = HMN_TELEMETRY_HAS_THROTTLE | HMN_TELEMETRY_HAS_P_STATE;
  return diagnostic.subject == part::telemetry && (diagnostic.field.value_or(0) & states) != 0;
}

std::string group_table(const GpuMetrics& of, const Style& as) {
  if (of.groups.empty()) return {};
  const auto bytes = [](const std::optional<std::uint64_t>& n, const char* none) {
    return n ? fmt::format("{} B", *n) : none;
  };
  Table rows({{"CONTROL GROUP"}, {"VRAM", Align::right}, {"LIMIT", Align::right}, {"SOURCE"}});
  for (const auto& each : of.groups)
    rows.add({{escape_for_text(each.name.value_or("?"), as.ascii_only)},
              {bytes(each.used_bytes, "?")},
              {bytes(each.limit_bytes, "-")},
              {source_text(each)}});
  return rows.text(as);
}

std::string metric_table(const GpuMetrics& of, bool with_unsupported, const Style& as) {
  auto text = escape_for_text(label_of(of.on), as.ascii_only) + "\n";
  if (!of.metrics.empty()) {
    Table rows(
        {{"METRIC"}, {"INSTANCE"}, {"VALUE", Align::right}, {"WINDOW", Align::right}, {"SOURCE"}});
    for (const auto& each : of.metrics)
      rows.add({{std::string(hypomnesis::name(each.id))},
                {instance_text(each)},
                {value_text(each)},
                {window_text(each)},
                {source_text(each)}});
    text += rows.text(as);
  }
  return text + missing_text(of, with_unsupported, as) + group_table(of, as);
}

std::string metric_json(const std::vector<GpuMetrics>& all) {
  std::vector<JsonObject> objects;
  for (const auto& of : all) {
    for (const auto& each : of.metrics) write_metric(each, begin(objects, of.on.device));
    for (const auto& each : of.missing) write_missing(each, begin(objects, of.on.device));
    for (const auto& each : of.groups) write_group(each, begin(objects, of.on.device));
  }
  return json_document(objects);
}

Expected<hypomnesis::snapshot_options> metrics_to_read(const Session& in, const Options& asked) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices | part::telemetry | part::metrics | part::groups;
  what.slow = asked.slow;
  return of_one_device(in, asked.device, what);
}

std::vector<GpuMetrics> metrics_of(const Session& in, const hypomnesis::snapshot& snapshot) {
  std::vector<GpuMetrics> all;
  for (auto& each : gpus_of(in, snapshot)) all.push_back({std::move(each), {}, {}, {}});
  const auto of = [&all](DeviceIndex index) {
    return find_device_in(all, index, [](const GpuMetrics& each) { return each.on.device.index; });
  };
  for (auto& each : snapshot.metrics())
    if (auto* const found = of(each.device_index)) found->metrics.push_back(std::move(each));
  for (auto& each : snapshot.groups())
    if (auto* const found = of(each.device_index)) found->groups.push_back(std::move(each));
  for (const auto& each : snapshot.diagnostics()) {
    if (is_trace(each) || !is_of_metrics(each)) continue;
    if (auto* const found = of(*each.device_index)) found->missing.push_back(each);
  }
  return all;
}

std::string tables_of(const std::vector<GpuMetrics>& all, bool with_unsupported, const Style& as) {
  std::string text;
  for (const auto& each : all)
    text.append(text.empty() ? "" : "\n").append(metric_table(each, with_unsupported, as));
  return text;
}

// Prints diagnostics except those of metrics, which are part of the output.
void print_messages(const Session& in, const hypomnesis::snapshot& snapshot) {
  const bool none = snapshot.info().device_count == 0;
  const bool is_explained = none && !search_failed(snapshot);
  auto diagnostics = snapshot.diagnostics();
  std::erase_if(diagnostics, [=](const hypomnesis::diagnostic& each) {
    return !matters(each) || (!none && is_of_metrics(each)) ||
           (each.subject == part::telemetry && !is_of_state(each)) ||
           (is_explained && each.status == status_code::no_source);
  });
  for (const auto& line : distinct_lines(diagnostics, describe_with_fields)) write_notice(line);
  if (is_explained) write_notice("GPU: " + why_no_gpu(in, snapshot));
}

Expected<ExitCode> run_metrics(const Session& in, const Options& asked, const Style& as) {
  const auto what = metrics_to_read(in, asked);
  if (!what) return what.why();
  const auto snapshot = in.collect(*what);
  const auto all = metrics_of(in, snapshot);
  print_messages(in, snapshot);
  const auto result = search_failed(snapshot) ? ExitCode::failed : ExitCode::done;
  return std::max(
      result, write_output(asked.json ? metric_json(all) : tables_of(all, asked.unsupported, as)));
}

constexpr Option options_of_metrics[] = {
    device_option(),
    {"--slow", 0, "", "Also metrics that take more than a few ms to read"},
    {"--unsupported", 0, "", "Also unsupported metrics, with the reason"},
    json_option("Print a JSON array"),
};

constexpr std::string_view examples_of_metrics =
    "Examples:\n"
    "  hmn metrics --device 0 --slow\n"
    "  hmn metrics --json | jq '.[] | select(.metric == \"temperature\").value'\n"
    "\n"
    "Exit status: 0 done (also when there are none), 1 failed, no such device, 2\n"
    "wrong usage. See hmn-metrics(1).";

std::optional<Failure> read_metrics(const Arguments& from, Options& to) {
  to.slow = from.has("--slow");
  to.unsupported = from.has("--unsupported");
  return std::nullopt;
}

}  // namespace

const CommandEntry metrics_command = {
    .id = Command::metrics,
    .name = "metrics",
    .purpose = "List every sensor, clock, engine and counter",
    .takes = options_of_metrics,
    .examples = examples_of_metrics,
    .read = read_metrics,
    .run = run_metrics,
};

}  // namespace hmn::cli
