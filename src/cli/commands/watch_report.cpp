// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/watch_report.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <utility>

#include "cli/commands/spill_report.hpp"
#include "cli/text/json.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;

constexpr std::uint64_t min_hint_growth = std::uint64_t{256} << 20U;

std::string name_or_unknown(const std::optional<std::string>& name) {
  return name.value_or("?");
}

bool has_changed(const std::optional<std::uint64_t>& before,
                 const std::optional<std::uint64_t>& now) {
  return before && now && *before != *now;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t pid) {
  return std::find(list.begin(), list.end(), pid) != list.end();
}

}  // namespace

std::optional<std::int64_t> ValueHistory::add(std::optional<std::uint64_t> value) {
  if (!value) return std::nullopt;
  const auto change = static_cast<std::int64_t>(*value - last.value_or(*value));
  if (!baseline) baseline = value;
  peak = std::max(peak.value_or(0), *value);
  last = value;
  return change;
}

WatchedProcess& WatchHistory::find_or_add(std::uint32_t pid) {
  for (auto& process : processes_)
    if (process.pid == pid) return process;
  WatchedProcess process;
  process.pid = pid;
  return processes_.emplace_back(std::move(process));
}

std::optional<std::string> WatchHistory::find_name(std::uint32_t pid) const {
  for (const auto& process : processes_)
    if (process.pid == pid) return process.name;
  return std::nullopt;
}

WatchedRow WatchHistory::add(const ProcessValues& values) {
  auto& process = find_or_add(values.pid);
  WatchedRow row;
  row.pid = values.pid;
  if (has_changed(process.start_unix_ns, values.start_unix_ns) ||
      has_changed(process.start, values.start)) {
    row.message =
        fmt::format("pid={} is another process now ({} -> {}); baseline reset", values.pid,
                    name_or_unknown(process.name), name_or_unknown(values.name));
    process = WatchedProcess{};
    process.pid = values.pid;
  }
  if (values.start_unix_ns) process.start_unix_ns = values.start_unix_ns;
  if (values.start) process.start = values.start;
  process.is_foreign = values.is_foreign;
  if (values.name) process.name = values.name;
  row.name = process.name;
  if (values.is_fresh) {
    row.used = values.used;
    row.is_lower_bound = values.used && values.is_lower_bound;
    row.shared = values.shared;
  }
  row.used_delta = process.used.add(row.used);
  row.shared_delta = process.shared.add(row.shared);
  const bool has_grown =
      process.used.has_grown_by(min_hint_growth) || process.shared.has_grown_by(min_hint_growth);
  if (!values.name && has_grown && !process.was_hinted && row.message.empty()) {
    process.was_hinted = true;
    const auto growth =
        std::max(process.used.last.value_or(0) - process.used.baseline.value_or(0),
                 process.shared.last.value_or(0) - process.shared.baseline.value_or(0));
    row.message = fmt::format("unresolved pid={} grew +{} since attach; run as root to identify it",
                              values.pid, format_bytes(growth));
  }
  return row;
}

WatchedRow WatchHistory::add_absent(std::uint32_t pid, std::optional<bool> has_ended,
                                    std::optional<std::uint64_t> start) {
  auto& process = find_or_add(pid);
  WatchedRow row;
  row.pid = pid;
  row.name = process.name;
  if (process.is_foreign || !has_ended)
    row.life = ProcessLife::unknown;
  else if (*has_ended || (process.start && process.start != start))
    row.life = ProcessLife::exited;
  else
    row.life = ProcessLife::idle;
  if (has_ended == false && !process.start) process.start = start;
  return row;
}

void WatchHistory::drop_oldest(const std::vector<std::uint32_t>& followed_pids) {
  while (processes_.size() > max_processes) {
    const auto oldest = std::find_if(
        processes_.begin(), processes_.end(),
        [&](const WatchedProcess& process) { return !contains(followed_pids, process.pid); });
    if (oldest == processes_.end()) return;
    processes_.erase(oldest);
    ++dropped_count_;
  }
}

std::vector<std::uint32_t> choose_top(const std::vector<ProcessValues>& rows, std::uint32_t count) {
  std::vector<std::uint32_t> pids;
  for (const auto& row : rows)
    if (row.is_candidate && pids.size() < count && !contains(pids, row.pid))
      pids.push_back(row.pid);
  return pids;
}

namespace {

using hypomnesis::spill_state;

using Align = Table::Align;
using Cell = Table::Cell;

constexpr const char* line_format = "{:>8} {:>3} {:>7} {:<15} {:>9} {:>9} {:>9} {:>9} {}\n";
constexpr const char* life_words[] = {"uses", "idle", "exited", "?"};

const char* life_word(ProcessLife life) {
  return life_words[static_cast<int>(life)];
}

std::string format_size_or_unknown(std::optional<std::uint64_t> bytes) {
  return bytes ? format_bytes(*bytes) : "?";
}

std::string format_used(const WatchedRow& row) {
  return (row.is_lower_bound ? ">=" : "") + format_size_or_unknown(row.used);
}

std::string format_name(const std::optional<std::string>& name) {
  return name ? escape_for_text(*name) : "?";
}

std::optional<bool> is_spilling(const hypomnesis::spill_info& info) {
  if (!has(info.state, spill_state::measurable)) return std::nullopt;
  return has(info.state, spill_state::now);
}

Table::Cell format_spill_state(const hypomnesis::spill_info& info) {
  const auto spilling = is_spilling(info);
  if (!spilling) return {"?", Tone::faint};
  return *spilling ? Table::Cell{"SPILL", Tone::bad} : Table::Cell{"no"};
}

// Formats the first values and the peaks of each process as a table.
std::string format_peaks_table(const std::vector<WatchResult>& results, const Style& style) {
  Table table({{"GPU", Align::right},
               {"PID", Align::right},
               {"NAME", Align::left, true, 6},
               {"VRAM", Align::right},
               {"PEAK", Align::right},
               {"SHARED", Align::right},
               {"PEAK", Align::right}});
  for (const auto& result : results)
    for (const auto& process : result.history->processes())
      table.add({{fmt::to_string(result.device)},
                 {fmt::to_string(process.pid)},
                 {process.name ? escape_for_text(*process.name, style.ascii_only) : "?"},
                 {format_size_or_unknown(process.used.baseline)},
                 {format_size_or_unknown(process.used.peak)},
                 {format_size_or_unknown(process.shared.baseline)},
                 {format_size_or_unknown(process.shared.peak)}});
  return "hmn watch: first values and peaks\n" + table.text(style);
}

}  // namespace

std::string format_change(std::optional<std::int64_t> bytes) {
  if (!bytes) return "?";
  if (*bytes == 0) return "+0 B";
  const auto size =
      *bytes < 0 ? 0 - static_cast<std::uint64_t>(*bytes) : static_cast<std::uint64_t>(*bytes);
  return (*bytes < 0 ? "-" : "+") + (size < mib ? fmt::format("{} B", size) : format_bytes(size));
}

std::optional<std::string> format_watch_table(const std::vector<WatchSample>& samples,
                                              const Style& style) {
  const std::string change = style.ascii_only ? "d" : "\u0394";
  Table table({{"TIME", Align::right},
               {"GPU", Align::right},
               {"PID", Align::right},
               {"NAME", Align::left, true, 6},
               {"VRAM", Align::right},
               {change + "VRAM", Align::right},
               {"SHARED", Align::right},
               {change + "SHARED", Align::right},
               {"SPILL"}});
  const auto add = [&](const SampleHeader& header, const WatchedRow& row) {
    const bool has_values = row.life == ProcessLife::uses;
    const auto value = [&](std::string text) { return Cell{has_values ? std::move(text) : "-"}; };
    table.add({{header.time_text},
               {fmt::to_string(header.device)},
               {fmt::to_string(row.pid)},
               {row.name ? escape_for_text(*row.name, style.ascii_only) : "?"},
               {has_values ? format_used(row) : life_word(row.life)},
               value(format_change(row.used_delta)),
               value(format_size_or_unknown(row.shared)),
               value(format_change(row.shared_delta)),
               format_spill_state(header.spill)});
  };
  for (const auto& sample : samples)
    for (const auto& row : sample.rows) add(sample.header, row);
  table.set_gap(1);
  if (!table.fits(style.width)) return std::nullopt;
  table.set_gap(2);
  return table.text(style);
}

std::string format_watch_header(bool ascii_only) {
  const std::string change = ascii_only ? "d" : "\u0394";
  return fmt::format(fmt::runtime(line_format), "TIME", "GPU", "PID", "NAME", "VRAM",
                     change + "VRAM", "SHARED", change + "SHARED", "SPILL");
}

std::string format_watch_line(const SampleHeader& header, const WatchedRow& row) {
  const auto spilling = is_spilling(header.spill);
  const char* const spill_word = !spilling ? "?" : *spilling ? "SPILL" : "no";
  if (row.life != ProcessLife::uses)
    return fmt::format(fmt::runtime(line_format), header.time_text, header.device, row.pid,
                       format_name(row.name), life_word(row.life), "-", "-", "-", spill_word);
  return fmt::format(fmt::runtime(line_format), header.time_text, header.device, row.pid,
                     format_name(row.name), format_used(row), format_change(row.used_delta),
                     format_size_or_unknown(row.shared), format_change(row.shared_delta),
                     spill_word);
}

std::string format_watch_json(const SampleHeader& header, const WatchedRow& row) {
  JsonObject object;
  object.add("kind", "sample")
      .add("t_ms", header.elapsed_ms)
      .add("pid", row.pid)
      .add("name", row.name)
      .add("state", row.life == ProcessLife::unknown
                        ? std::nullopt
                        : std::optional(std::string(life_word(row.life))))
      .add("used_bytes", row.used)
      .add("used_delta_bytes", row.used_delta)
      .add("shared_used_bytes", row.shared)
      .add("shared_delta_bytes", row.shared_delta)
      .add("spilling", is_spilling(header.spill))
      .add("device_index", header.device)
      .add("lower_bound", row.is_lower_bound);
  return object.text() + "\n";
}

std::string format_watch_spills(const std::vector<WatchResult>& results, bool ascii_only,
                                bool is_only) {
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> groups;  // text, devices
  for (const auto& result : results) {
    const auto text = format_spill({}, result.spill, ascii_only);
    const auto it = std::find_if(groups.begin(), groups.end(),
                                 [&](const auto& group) { return group.first == text; });
    if (it == groups.end())
      groups.push_back({text, {result.device}});
    else
      it->second.push_back(result.device);
  }
  std::string report;
  for (const auto& [text, devices] : groups) {
    const auto first = std::find_if(results.begin(), results.end(), [&](const WatchResult& result) {
      return result.device == devices.front();
    });
    const auto prefix = is_only ? "hmn watch" : "hmn watch: GPU " + format_ranges(devices);
    report += format_spill(prefix, first->spill, ascii_only);
  }
  return report;
}

std::string format_watch_summary(const std::vector<WatchResult>& results, const Style& style) {
  auto text = format_watch_spills(results, style.ascii_only, results.size() == 1);
  std::uint64_t dropped_count = 0;
  bool has_processes = false;
  for (const auto& result : results) {
    dropped_count += result.history->dropped_count();
    has_processes = has_processes || !result.history->processes().empty();
  }
  if (!has_processes) return text;
  text += format_peaks_table(results, style);
  if (dropped_count > 0) text += fmt::format("and {} more that exited earlier\n", dropped_count);
  return text;
}

std::string format_watch_summary_json(const WatchResult& result,
                                      const std::vector<hypomnesis::episode>& episodes) {
  std::vector<JsonObject> list;
  for (const auto& process : result.history->processes()) {
    JsonObject object;
    object.add("pid", process.pid)
        .add("name", process.name)
        .add("baseline_used_bytes", process.used.baseline)
        .add("peak_used_bytes", process.used.peak)
        .add("baseline_shared_bytes", process.shared.baseline)
        .add("peak_shared_bytes", process.shared.peak);
    list.push_back(object);
  }
  JsonObject summary;
  summary.add("kind", "summary");
  add_spill_json(result.spill, episodes, summary);
  summary.add("per_pid", list)
      .add("forgotten", result.history->dropped_count())
      .add("device_index", result.device);
  return summary.text() + "\n";
}

}  // namespace hmn::cli
