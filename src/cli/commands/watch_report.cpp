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

constexpr std::uint64_t hint_from = std::uint64_t{256} << 20U;

std::string text_of(const std::optional<std::string>& name) {
  return name.value_or("?");
}

bool is_another(const std::optional<std::uint64_t>& before,
                const std::optional<std::uint64_t>& now) {
  return before && now && *before != *now;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t pid) {
  return std::find(list.begin(), list.end(), pid) != list.end();
}

}  // namespace

std::optional<std::int64_t> ValueHistory::add(std::optional<std::uint64_t> now) {
  if (!now) return std::nullopt;
  const auto change = static_cast<std::int64_t>(*now - last.value_or(*now));
  if (!baseline) baseline = now;
  peak = std::max(peak.value_or(0), *now);
  last = now;
  return change;
}

WatchedProcess& Watched::of(std::uint32_t pid) {
  for (auto& each : all_)
    if (each.pid == pid) return each;
  WatchedProcess fresh;
  fresh.pid = pid;
  return all_.emplace_back(std::move(fresh));
}

std::optional<std::string> Watched::name_of(std::uint32_t pid) const {
  for (const auto& each : all_)
    if (each.pid == pid) return each.name;
  return std::nullopt;
}

WatchedRow Watched::add(const ProcessValues& now) {
  auto& known = of(now.pid);
  WatchedRow row;
  row.pid = now.pid;
  if (is_another(known.start_unix_ns, now.start_unix_ns) || is_another(known.start, now.start)) {
    row.message = fmt::format("pid={} is another process now ({} -> {}); baseline reset", now.pid,
                              text_of(known.name), text_of(now.name));
    known = WatchedProcess{};
    known.pid = now.pid;
  }
  if (now.start_unix_ns) known.start_unix_ns = now.start_unix_ns;
  if (now.start) known.start = now.start;
  known.is_foreign = now.is_foreign;
  if (now.name) known.name = now.name;
  row.name = known.name;
  if (now.is_fresh) {
    row.used = now.used;
    row.is_lower_bound = now.used && now.is_lower_bound;
    row.shared = now.shared;
  }
  row.used_delta = known.used.add(row.used);
  row.shared_delta = known.shared.add(row.shared);
  const bool has_grown = known.used.has_grown_by(hint_from) || known.shared.has_grown_by(hint_from);
  if (!now.name && has_grown && !known.was_hinted && row.message.empty()) {
    known.was_hinted = true;
    const auto growth = std::max(known.used.last.value_or(0) - known.used.baseline.value_or(0),
                                 known.shared.last.value_or(0) - known.shared.baseline.value_or(0));
    row.message = fmt::format("unresolved pid={} grew +{} since attach; run as root to identify it",
                              now.pid, format_bytes(growth));
  }
  return row;
}

WatchedRow Watched::add_absent(std::uint32_t pid, std::optional<bool> has_ended,
                               std::optional<std::uint64_t> start) {
  auto& known = of(pid);
  WatchedRow row;
  row.pid = pid;
  row.name = known.name;
  if (known.is_foreign || !has_ended)
    row.life = ProcessLife::unknown;
  else if (*has_ended || (known.start && known.start != start))
    row.life = ProcessLife::exited;
  else
    row.life = ProcessLife::idle;
  if (has_ended == false && !known.start) known.start = start;
  return row;
}

void Watched::forget_beyond(const std::vector<std::uint32_t>& followed) {
  while (all_.size() > most) {
    const auto oldest = std::find_if(all_.begin(), all_.end(), [&](const WatchedProcess& each) {
      return !contains(followed, each.pid);
    });
    if (oldest == all_.end()) return;
    all_.erase(oldest);
    ++forgotten_;
  }
}

std::vector<std::uint32_t> choose_top(const std::vector<ProcessValues>& rows, std::uint32_t count) {
  std::vector<std::uint32_t> chosen;
  for (const auto& row : rows)
    if (row.is_candidate && chosen.size() < count && !contains(chosen, row.pid))
      chosen.push_back(row.pid);
  return chosen;
}

namespace {

using hypomnesis::spill_state;

using Align = Table::Align;
using Cell = Table::Cell;

constexpr const char* line_form = "{:>8} {:>3} {:>7} {:<15} {:>9} {:>9} {:>9} {:>9} {}\n";
constexpr const char* word_of[] = {"uses", "idle", "exited", "?"};

const char* text_of(ProcessLife life) {
  return word_of[static_cast<int>(life)];
}

std::string size_or(std::optional<std::uint64_t> bytes) {
  return bytes ? format_bytes(*bytes) : "?";
}

std::string used_text(const WatchedRow& of) {
  return (of.is_lower_bound ? ">=" : "") + size_or(of.used);
}

std::string name_or(const std::optional<std::string>& name) {
  return name ? escape_for_text(*name) : "?";
}

std::optional<bool> spills(const hypomnesis::spill_info& of) {
  if (!has(of.state, spill_state::measurable)) return std::nullopt;
  return has(of.state, spill_state::now);
}

Table::Cell spill_cell(const hypomnesis::spill_info& of) {
  const auto spilling = spills(of);
  if (!spilling) return {"?", Tone::faint};
  return *spilling ? Table::Cell{"SPILL", Tone::bad} : Table::Cell{"no"};
}

// Returns the first values and the peaks of each process as a table.
std::string peaks_table(const std::vector<WatchResult>& all, const Style& as) {
  Table out({{"GPU", Align::right},
             {"PID", Align::right},
             {"NAME", Align::left, true, 6},
             {"VRAM", Align::right},
             {"PEAK", Align::right},
             {"SHARED", Align::right},
             {"PEAK", Align::right}});
  for (const auto& of : all)
    for (const auto& each : of.processes->all())
      out.add({{fmt::to_string(of.device)},
               {fmt::to_string(each.pid)},
               {each.name ? escape_for_text(*each.name, as.ascii_only) : "?"},
               {size_or(each.used.baseline)},
               {size_or(each.used.peak)},
               {size_or(each.shared.baseline)},
               {size_or(each.shared.peak)}});
  return "hmn watch: first values and peaks\n" + out.text(as);
}

}  // namespace

std::string change_text(std::optional<std::int64_t> bytes) {
  if (!bytes) return "?";
  if (*bytes == 0) return "+0 B";
  const auto size =
      *bytes < 0 ? 0 - static_cast<std::uint64_t>(*bytes) : static_cast<std::uint64_t>(*bytes);
  return (*bytes < 0 ? "-" : "+") + (size < mib ? fmt::format("{} B", size) : format_bytes(size));
}

std::optional<std::string> watch_table(const std::vector<WatchSample>& all, const Style& as) {
  const std::string change = as.ascii_only ? "d" : "\u0394";
  Table out({{"TIME", Align::right},
             {"GPU", Align::right},
             {"PID", Align::right},
             {"NAME", Align::left, true, 6},
             {"VRAM", Align::right},
             {change + "VRAM", Align::right},
             {"SHARED", Align::right},
             {change + "SHARED", Align::right},
             {"SPILL"}});
  const auto add = [&](const WatchMoment& at, const WatchedRow& each) {
    const bool has_values = each.life == ProcessLife::uses;
    const auto value = [&](std::string text) { return Cell{has_values ? std::move(text) : "-"}; };
    out.add({{at.text},
             {fmt::to_string(at.device)},
             {fmt::to_string(each.pid)},
             {each.name ? escape_for_text(*each.name, as.ascii_only) : "?"},
             {has_values ? used_text(each) : text_of(each.life)},
             value(change_text(each.used_delta)),
             value(size_or(each.shared)),
             value(change_text(each.shared_delta)),
             spill_cell(at.spill)});
  };
  for (const auto& sample : all)
    for (const auto& each : sample.rows) add(sample.at, each);
  out.set_gap(1);
  if (!out.fits(as.width)) return std::nullopt;
  out.set_gap(2);
  return out.text(as);
}

std::string watch_header(bool ascii_only) {
  const std::string change = ascii_only ? "d" : "\u0394";
  return fmt::format(fmt::runtime(line_form), "TIME", "GPU", "PID", "NAME", "VRAM", change + "VRAM",
                     "SHARED", change + "SHARED", "SPILL");
}

std::string watch_line(const WatchMoment& at, const WatchedRow& of) {
  const auto spilling = spills(at.spill);
  const char* const spill_word = !spilling ? "?" : *spilling ? "SPILL" : "no";
  if (of.life != ProcessLife::uses)
    return fmt::format(fmt::runtime(line_form), at.text, at.device, of.pid, name_or(of.name),
                       text_of(of.life), "-", "-", "-", spill_word);
  return fmt::format(fmt::runtime(line_form), at.text, at.device, of.pid, name_or(of.name),
                     used_text(of), change_text(of.used_delta), size_or(of.shared),
                     change_text(of.shared_delta), spill_word);
}

std::string watch_json(const WatchMoment& at, const WatchedRow& of) {
  JsonObject out;
  out.add("kind", "sample")
      .add("t_ms", at.ms)
      .add("pid", of.pid)
      .add("name", of.name)
      .add("state", of.life == ProcessLife::unknown ? std::nullopt
                                                    : std::optional(std::string(text_of(of.life))))
      .add("used_bytes", of.used)
      .add("used_delta_bytes", of.used_delta)
      .add("shared_used_bytes", of.shared)
      .add("shared_delta_bytes", of.shared_delta)
      .add("spilling", spills(at.spill))
      .add("device_index", at.device)
      .add("lower_bound", of.is_lower_bound);
  return out.text() + "\n";
}

std::string watch_spills(const std::vector<WatchResult>& all, bool ascii_only, bool is_only) {
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> groups;  // text, devices
  for (const auto& each : all) {
    const auto text = spill_text({}, each.spill, ascii_only);
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == text; });
    if (same == groups.end())
      groups.push_back({text, {each.device}});
    else
      same->second.push_back(each.device);
  }
  std::string out;
  for (const auto& [text, devices] : groups) {
    const auto first = std::find_if(all.begin(), all.end(), [&](const WatchResult& each) {
      return each.device == devices.front();
    });
    const auto who = is_only ? "hmn watch" : "hmn watch: GPU " + ranges_text(devices);
    out += spill_text(who, first->spill, ascii_only);
  }
  return out;
}

std::string watch_summary(const std::vector<WatchResult>& all, const Style& as) {
  auto text = watch_spills(all, as.ascii_only, all.size() == 1);
  std::uint64_t forgotten = 0;
  bool has_some = false;
  for (const auto& each : all) {
    forgotten += each.processes->forgotten();
    has_some = has_some || !each.processes->all().empty();
  }
  if (!has_some) return text;
  text += peaks_table(all, as);
  if (forgotten > 0) text += fmt::format("and {} more that exited earlier\n", forgotten);
  return text;
}

std::string watch_summary_json(const WatchResult& of,
                               const std::vector<hypomnesis::episode>& episodes) {
  std::vector<JsonObject> list;
  for (const auto& each : of.processes->all()) {
    JsonObject one;
    one.add("pid", each.pid)
        .add("name", each.name)
        .add("baseline_used_bytes", each.used.baseline)
        .add("peak_used_bytes", each.used.peak)
        .add("baseline_shared_bytes", each.shared.baseline)
        .add("peak_shared_bytes", each.shared.peak);
    list.push_back(one);
  }
  JsonObject out;
  out.add("kind", "summary");
  add_spill_json(of.spill, episodes, out);
  out.add("per_pid", list)
      .add("forgotten", of.processes->forgotten())
      .add("device_index", of.device);
  return out.text() + "\n";
}

}  // namespace hmn::cli
