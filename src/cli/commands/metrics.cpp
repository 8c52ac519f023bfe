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
  Gpu gpu;
  std::vector<hypomnesis::metric> metrics;
  std::vector<hypomnesis::diagnostic> missing;  // of its metrics only
  std::vector<hypomnesis::group> groups;
};

using Align = Table::Align;

std::string format_instance(const hypomnesis::metric& metric) {
  std::string text(hypomnesis::instance_name(metric.id, metric.instance));
  if (text.empty() && metric.instance != 0) text = fmt::to_string(metric.instance);
  return text.empty() ? "-" : text;
}

// Formats three decimals without trailing zeros.
std::string format_number(double value) {
  auto text = fmt::format("{:.3f}", value);
  if (const auto point = text.find('.'); point != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.size() == point + 1) text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string format_duration(double ns) {
  struct {
    double ns;
    const char* name;
  } constexpr units[] = {{3.6e12, "h"}, {6e10, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const auto& unit : units)
    if (ns >= unit.ns) return fmt::format("{} {}", format_number(ns / unit.ns), unit.name);
  return fmt::format("{} ns", format_number(ns));
}

std::string format_value(const hypomnesis::metric& metric) {
  const std::string text(accuracy_mark(metric.notes));
  const std::string_view unit = hypomnesis::unit(metric.id);
  if (!metric.count && !metric.value) return "?";
  if (unit == "ns")
    return text +
           format_duration(metric.count ? static_cast<double>(*metric.count) : *metric.value);
  return text + (metric.count ? fmt::to_string(*metric.count) : format_number(*metric.value)) +
         (unit.empty() ? "" : " ") + std::string(unit);
}

std::string format_window(const hypomnesis::metric& metric) {
  return metric.window_ns ? format_duration(static_cast<double>(*metric.window_ns)) : "-";
}

template <class Record>
std::string format_source(const Record& record) {
  return std::string(or_unknown(source_word(record.backend))) +
         format_stale_suffix(record.notes, record.age_ns);
}

// Names the missing metric: "temperature", or "temperature (hotspot)".
std::string name_missing_metric(const hypomnesis::diagnostic& diagnostic) {
  if (!diagnostic.metric) return "metrics";
  const std::string name(hypomnesis::name(*diagnostic.metric));
  const std::uint32_t instance = diagnostic.metric_instance.value_or(0);
  if (instance == 0) return name;
  const auto word = hypomnesis::instance_name(*diagnostic.metric, instance);
  return fmt::format("{} ({})", name, word.empty() ? fmt::to_string(instance) : std::string(word));
}

std::string format_missing_line(const hypomnesis::diagnostic& diagnostic, const Style& style) {
  const auto more =
      diagnostic.count > 1 ? fmt::format(" (and {} more like it)", diagnostic.count - 1) : "";
  return fmt::format("{}: unknown: {}{}\n", name_missing_metric(diagnostic),
                     escape_for_text(diagnostic.message, style.ascii_only), more);
}

std::string explain_no_metrics(const hypomnesis::device& device) {
  const auto state = state_word(device.state);
  if (device.state != run_state::ready && state)
    return fmt::format("metrics: unknown: the device is {}\n", *state);
  return "metrics: none, not reported by any source\n";
}

std::vector<std::string> format_missing_lines(const GpuMetrics& gpu_metrics, bool is_important,
                                              const Style& style) {
  std::vector<std::string> lines;
  for (const auto& diagnostic : gpu_metrics.missing) {
    auto line = format_missing_line(diagnostic, style);
    if (matters(diagnostic) == is_important &&
        std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  }
  return lines;
}

// Lists unsupported metrics on request, and for a device that has no others.
std::string format_missing(const GpuMetrics& gpu_metrics, bool include_unsupported,
                           const Style& style) {
  auto lines = format_missing_lines(gpu_metrics, true, style);
  const auto unsupported = format_missing_lines(gpu_metrics, false, style);
  const bool is_all = gpu_metrics.metrics.empty() && lines.empty();
  if (is_all || include_unsupported)
    lines.insert(lines.end(), unsupported.begin(), unsupported.end());
  else if (!unsupported.empty())
    lines.push_back(fmt::format("{} more not supported: --unsupported lists them with the reason\n",
                                unsupported.size()));
  if (lines.empty() && is_all) lines.push_back(explain_no_metrics(gpu_metrics.gpu.device));
  return fmt::format("{}", fmt::join(lines, ""));
}

JsonObject& begin_object(std::vector<JsonObject>& objects, const hypomnesis::device& device) {
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

void write_metric(const hypomnesis::metric& metric, JsonObject& object) {
  object.add("metric", hypomnesis::name(metric.id))
      .add("instance", metric.instance)
      .add("instance_name", unless_empty(hypomnesis::instance_name(metric.id, metric.instance)))
      .add("unit", unless_empty(hypomnesis::unit(metric.id)))
      .add("value", metric.value)
      .add("count", metric.count)
      .add("window_ns", metric.window_ns)
      .add("backend", source_word(metric.backend))
      .add("age_ns", metric.age_ns)
      .add("notes", note_words(metric.notes))
      .add_null("status")
      .add_null("reason");
}

void write_missing(const hypomnesis::diagnostic& diagnostic, JsonObject& object) {
  const auto id = diagnostic.metric;
  object.add("metric", id ? std::optional(hypomnesis::name(*id)) : std::nullopt);
  const auto name =
      id ? hypomnesis::instance_name(*id, diagnostic.metric_instance.value_or(0)) : "";
  object.add("instance", diagnostic.metric_instance).add("instance_name", unless_empty(name));
  object.add("unit", id ? unless_empty(hypomnesis::unit(*id)) : std::nullopt);
  for (const char* key : {"value", "count", "window_ns"}) object.add_null(key);
  object.add("backend", source_word(diagnostic.backend))
      .add_null("age_ns")
      .add("notes", note_words(diagnostic.notes))
      .add("status", hypomnesis::name(diagnostic.status))
      .add("reason", diagnostic.message);
}

void write_group(const hypomnesis::group& group, JsonObject& object) {
  object.add("group", group.name)
      .add("used_bytes", group.used_bytes)
      .add("limit_bytes", group.limit_bytes)
      .add("backend", source_word(group.backend))
      .add("age_ns", group.age_ns)
      .add("notes", note_words(group.notes));
}

// Includes those of a device that returns no data at all, which also cover its metrics.
bool concerns_metrics(const hypomnesis::diagnostic& diagnostic) noexcept {
  return diagnostic.subject == part::metrics && diagnostic.device_index;
}

// Returns whether it concerns a telemetry value without a metric (throttling, performance state),
// which this command therefore reports as a message.
bool concerns_state(const hypomnesis::diagnostic& diagnostic) noexcept {
  constexpr auto states = HMN_TELEMETRY_HAS_THROTTLE | HMN_TELEMETRY_HAS_P_STATE;
  return diagnostic.subject == part::telemetry && (diagnostic.field.value_or(0) & states) != 0;
}

std::string format_group_table(const GpuMetrics& gpu_metrics, const Style& style) {
  if (gpu_metrics.groups.empty()) return {};
  const auto bytes = [](const std::optional<std::uint64_t>& n, const char* none) {
    return n ? fmt::format("{} B", *n) : none;
  };
  Table table({{"CONTROL GROUP"}, {"VRAM", Align::right}, {"LIMIT", Align::right}, {"SOURCE"}});
  for (const auto& group : gpu_metrics.groups)
    table.add({{escape_for_text(group.name.value_or("?"), style.ascii_only)},
               {bytes(group.used_bytes, "?")},
               {bytes(group.limit_bytes, "-")},
               {format_source(group)}});
  return table.text(style);
}

std::string format_metric_table(const GpuMetrics& gpu_metrics, bool include_unsupported,
                                const Style& style) {
  auto text = escape_for_text(format_gpu_label(gpu_metrics.gpu), style.ascii_only) + "\n";
  if (!gpu_metrics.metrics.empty()) {
    Table table(
        {{"METRIC"}, {"INSTANCE"}, {"VALUE", Align::right}, {"WINDOW", Align::right}, {"SOURCE"}});
    for (const auto& metric : gpu_metrics.metrics)
      table.add({{std::string(hypomnesis::name(metric.id))},
                 {format_instance(metric)},
                 {format_value(metric)},
                 {format_window(metric)},
                 {format_source(metric)}});
    text += table.text(style);
  }
  return text + format_missing(gpu_metrics, include_unsupported, style) +
         format_group_table(gpu_metrics, style);
}

std::string format_metrics_json(const std::vector<GpuMetrics>& all_metrics) {
  std::vector<JsonObject> objects;
  for (const auto& gpu_metrics : all_metrics) {
    for (const auto& metric : gpu_metrics.metrics)
      write_metric(metric, begin_object(objects, gpu_metrics.gpu.device));
    for (const auto& diagnostic : gpu_metrics.missing)
      write_missing(diagnostic, begin_object(objects, gpu_metrics.gpu.device));
    for (const auto& group : gpu_metrics.groups)
      write_group(group, begin_object(objects, gpu_metrics.gpu.device));
  }
  return format_json_array(objects);
}

Expected<hypomnesis::snapshot_options> make_snapshot_options(const Session& session,
                                                             const Options& options) {
  hypomnesis::snapshot_options request;
  request.collect = part::devices | part::telemetry | part::metrics | part::groups;
  request.slow = options.include_slow;
  return limit_to_device(session, options.device, request);
}

std::vector<GpuMetrics> collect_metrics(const Session& session,
                                        const hypomnesis::snapshot& snapshot) {
  std::vector<GpuMetrics> all_metrics;
  for (auto& gpu : list_gpus(session, snapshot))
    all_metrics.push_back({std::move(gpu), {}, {}, {}});
  const auto find_gpu = [&all_metrics](DeviceIndex index) {
    return find_by_index(all_metrics, index,
                         [](const GpuMetrics& candidate) { return candidate.gpu.device.index; });
  };
  for (auto& metric : snapshot.metrics())
    if (auto* const gpu_metrics = find_gpu(metric.device_index))
      gpu_metrics->metrics.push_back(std::move(metric));
  for (auto& group : snapshot.groups())
    if (auto* const gpu_metrics = find_gpu(group.device_index))
      gpu_metrics->groups.push_back(std::move(group));
  for (const auto& diagnostic : snapshot.diagnostics()) {
    if (is_trace(diagnostic) || !concerns_metrics(diagnostic)) continue;
    if (auto* const gpu_metrics = find_gpu(*diagnostic.device_index))
      gpu_metrics->missing.push_back(diagnostic);
  }
  return all_metrics;
}

std::string format_tables(const std::vector<GpuMetrics>& all_metrics, bool include_unsupported,
                          const Style& style) {
  std::string text;
  for (const auto& gpu_metrics : all_metrics)
    text.append(text.empty() ? "" : "\n")
        .append(format_metric_table(gpu_metrics, include_unsupported, style));
  return text;
}

// Prints diagnostics except those of metrics, which are part of the output.
void print_messages(const Session& session, const hypomnesis::snapshot& snapshot) {
  const bool none = snapshot.info().device_count == 0;
  const bool is_explained = none && !has_search_failed(snapshot);
  auto diagnostics = snapshot.diagnostics();
  std::erase_if(diagnostics, [=](const hypomnesis::diagnostic& diagnostic) {
    return !matters(diagnostic) || (!none && concerns_metrics(diagnostic)) ||
           (diagnostic.subject == part::telemetry && !concerns_state(diagnostic)) ||
           (is_explained && diagnostic.status == status_code::no_source);
  });
  for (const auto& line : format_distinct_lines(diagnostics, describe_with_fields))
    write_notice(line);
  if (is_explained) write_notice("GPU: " + explain_no_gpu(session, snapshot));
}

Expected<ExitCode> run_metrics(const Session& session, const Options& options, const Style& style) {
  const auto request = make_snapshot_options(session, options);
  if (!request) return request.error();
  const auto snapshot = session.collect(*request);
  const auto all_metrics = collect_metrics(session, snapshot);
  print_messages(session, snapshot);
  const auto result = has_search_failed(snapshot) ? ExitCode::failed : ExitCode::done;
  return std::max(
      result,
      write_output(options.json ? format_metrics_json(all_metrics)
                                : format_tables(all_metrics, options.include_unsupported, style)));
}

constexpr Option metrics_options[] = {
    device_option(),
    {"--slow", 0, "", "Also metrics that take more than a few ms to read"},
    {"--unsupported", 0, "", "Also unsupported metrics, with the reason"},
    json_option("Print a JSON array"),
};

constexpr std::string_view metrics_examples =
    "Examples:\n"
    "  hmn metrics --device 0 --slow\n"
    "  hmn metrics --json | jq '.[] | select(.metric == \"temperature\").value'\n"
    "\n"
    "Exit status: 0 done (also when there are none), 1 failed, no such device, 2\n"
    "wrong usage. See hmn-metrics(1).";

std::optional<Failure> read_metrics(const Arguments& arguments, Options& options) {
  options.include_slow = arguments.has("--slow");
  options.include_unsupported = arguments.has("--unsupported");
  return std::nullopt;
}

}  // namespace

const Command metrics_command = {
    .id = CommandId::metrics,
    .name = "metrics",
    .purpose = "List every sensor, clock, engine and counter",
    .options = metrics_options,
    .examples = metrics_examples,
    .read = read_metrics,
    .run = run_metrics,
};

}  // namespace hmn::cli
