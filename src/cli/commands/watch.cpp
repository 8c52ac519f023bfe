// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/spill_report.hpp"
#include "cli/commands/values.hpp"
#include "cli/commands/watch_report.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/pace.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/process_tree.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/arguments.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"
#include "cli/text/unicode.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::note;
using hypomnesis::part;

using std::chrono::milliseconds;

process_values values_of(const hypomnesis::usage& row) {
  process_values out;
  out.pid = row.pid;
  out.name = row.process_name;
  out.start_unix_ns = row.start_unix_ns;
  out.is_foreign = has(row.notes, note::foreign_pid);
  out.is_fresh = is_fresh(row);
  out.used = row.used_bytes;
  out.shared = row.host_pool_bytes;
  return out;
}

// Returns why the process list is missing.
std::optional<failure> missing_list(const hypomnesis::snapshot& snapshot) {
  for (const auto& each : snapshot.diagnostics())
    if (hides_processes(each)) return failed(describe_process(each));
  return std::nullopt;
}

// Returns the age of stale values, which the sample omits; empty: there are none.
std::string stale_report(const std::vector<hypomnesis::usage>& rows, const std::string& moment) {
  const auto stale = std::find_if(rows.begin(), rows.end(),
                                  [](const hypomnesis::usage& each) { return !is_fresh(each); });
  if (stale == rows.end()) return {};
  return fmt::format("hmn watch: values at {} are not counted: {}\n", moment,
                     stale_text(stale->age_ns));
}

class watch {
 public:
  watch(const session& in, const options& asked, const style& as, std::uint32_t device,
        hypomnesis::spill detector)
      : in_(in),
        asked_(asked),
        as_(as),
        device_(device),
        is_simulated_(in.is_simulated()),
        detector_(std::move(detector)) {}

  std::optional<failure> begin();
  void announce() const;
  // Writes one sample.
  write_result sample(std::uint64_t ms);
  write_result finish();
  bool has_spilled() const { return has(detector_.info().state, hypomnesis::spill_state::ever); }

 private:
  expected<std::vector<process_values>> try_read(std::uint32_t deadline_ms, std::uint64_t ms);
  expected<std::vector<process_values>> read(std::uint32_t deadline_ms, std::uint64_t ms);
  void choose(std::uint64_t ms);
  std::string moment_of(std::uint64_t ms) const {
    return moment_text(ms, asked_.watch.interval_ms);
  }
  watched_row row_of(std::uint32_t pid);
  void report(const std::string& lines);
  write_result append(const watch_moment& at, const std::vector<watched_row>& rows);
  write_result show(const watch_moment& at, const std::vector<watched_row>& rows);
  write_result print(std::uint64_t ms);
  std::string list_of(const std::vector<std::uint32_t>& pids,
                      const std::vector<std::uint32_t>& without) const;

  const session& in_;
  const options& asked_;
  const style& as_;
  std::uint32_t device_;
  bool is_simulated_;  // its processes are not on this system
  roots roots_ = roots_from_environment();
  hypomnesis::spill detector_;
  std::string label_;
  std::vector<process_values> rows_;  // of the last sample
  std::vector<std::uint32_t> followed_;
  watched all_;
  redrawn_lines shown_;  // the last sample, on a terminal
};

// Reports an event above the last sample.
void watch::report(const std::string& lines) {
  if (lines.empty()) return;
  if (const auto removal = shown_.remove(); !removal.empty()) write_part(removal);
  write_report(lines);
}

// Writes a sample as lines, after a header in front of the first one.
write_result watch::append(const watch_moment& at, const std::vector<watched_row>& rows) {
  shown_ = {};
  std::string text = at.ms == 0 && !asked_.json ? watch_header(as_.ascii_only) : std::string();
  for (const auto& each : rows) text += asked_.json ? watch_json(at, each) : watch_line(at, each);
  return text.empty() ? write_result::written : write_part(text);
}

// Writes a sample; on a terminal in place of the one before, if it fits.
write_result watch::show(const watch_moment& at, const std::vector<watched_row>& rows) {
  const auto as = choose_style(standard_output_surroundings(), asked_.colour);
  if (asked_.json || as.height <= rows.size() + 1) return append(at, rows);
  const auto table = watch_table(at, rows, as);
  return table ? write_part(shown_.replace(*table)) : append(at, rows);
}

expected<std::vector<process_values>> watch::try_read(std::uint32_t deadline_ms, std::uint64_t ms) {
  try {
    return read(deadline_ms, ms);
  } catch (const hypomnesis::error& why) {
    return failed(why.what());
  }
}

expected<std::vector<process_values>> watch::read(std::uint32_t deadline_ms, std::uint64_t ms) {
  hypomnesis::snapshot_options what;
  what.device_index = device_;
  what.collect = part::devices | part::pools | part::processes;
  what.deadline = milliseconds(deadline_ms);
  const auto snapshot = in_.library().take(what);
  observe(detector_, snapshot, moment_of(ms));
  auto usages = snapshot.usages();
  if (usages.empty())
    if (auto missing = missing_list(snapshot)) return *std::move(missing);
  std::stable_sort(usages.begin(), usages.end(), [this](const auto& a, const auto& b) {
    return comes_before(a, b, asked_.watch.sort);
  });
  std::vector<process_values> rows;
  for (const auto& each : usages) {
    rows.push_back(values_of(each));
    rows.back().is_candidate = is_selected(asked_.watch.match, each.process_name);
  }
  report(stale_report(usages, moment_of(ms)));
  if (label_.empty())
    for (const auto& each : gpus_of(in_, snapshot)) label_ = shown_name(each).value_or("");
  return rows;
}

std::optional<failure> watch::begin() {
  const auto wrong = [](std::string message) { return misused(std::move(message)); };
  in_.listed();
  auto rows = try_read(static_cast<std::uint32_t>(in_.patience().count()), 0);
  if (!rows) return wrong(fmt::format("cannot read device {}: {}", device_, rows.why().message));
  rows_ = *std::move(rows);
  followed_ = asked_.watch.pids;
  if (followed_.empty()) followed_ = choose_top(rows_, asked_.watch.top);
  if (!followed_.empty()) return std::nullopt;
  if (asked_.watch.top == 0) return wrong("--top 0 follows no process");
  const auto none =
      fmt::format("watch found no GPU processes{} on device {}",
                  asked_.watch.match ? " matching name=" + *asked_.watch.match : "", device_);
  if (const auto parts = parts_of(device_, in_.listed().devices); !parts.empty())
    return wrong(fmt::format("{}: it is divided, its parts have them ({})", none, parts));
  if (!asked_.watch.follow_new)
    return wrong(
        fmt::format("{} to auto-select (top {}); re-run with an explicit PID once a "
                    "workload is running",
                    none, asked_.watch.top));
  write_notice(fmt::format("{} yet (top {} by {}); waiting for work to appear", none,
                           asked_.watch.top, name_of(asked_.watch.sort)));
  return std::nullopt;
}

void watch::announce() const {
  const auto& asked = asked_.watch;
  std::string whom =
      fmt::format("watching {} process{}", followed_.size(), followed_.size() == 1 ? "" : "es");
  auto top = fmt::format("top {} by {}", asked.top, name_of(asked.sort));
  if (asked.match) top += " with name=" + escape_for_text(*asked.match);
  if (asked.pids.empty()) whom += fmt::format(" ({})", top);
  if (asked.follow_new)
    whom = fmt::format("following {} (re-selected every interval), {} initially", top,
                       followed_.size());
  const auto name = label_.empty() ? "" : fmt::format(" [{}]", escape_for_text(label_));
  const auto seconds = static_cast<double>(asked.interval_ms) / 1000;
  write_report(
      fmt::format("hmn watch: device {}{}, interval {:g}s, {}\n", device_, name, seconds, whom));
  if (!has(detector_.info().state, hypomnesis::spill_state::measurable))
    write_report(spill_text("hmn watch", detector_.info(), as_.ascii_only));
}

std::string watch::list_of(const std::vector<std::uint32_t>& pids,
                           const std::vector<std::uint32_t>& without) const {
  std::string text;
  for (const auto pid : pids) {
    if (std::find(without.begin(), without.end(), pid) != without.end()) continue;
    const auto row = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const process_values& each) { return each.pid == pid; });
    const auto name = row != rows_.end() && row->name ? row->name : all_.name_of(pid);
    text += fmt::format("{}pid={}", text.empty() ? "" : ", ", pid);
    if (name) text += fmt::format(" ({})", escape_for_text(*name));
  }
  return text;
}

void watch::choose(std::uint64_t ms) {
  auto chosen = choose_top(rows_, asked_.watch.top);
  const auto entered = list_of(chosen, followed_);
  const auto left = list_of(followed_, chosen);
  followed_ = std::move(chosen);
  if (entered.empty() && left.empty()) return;
  const bool both = !entered.empty() && !left.empty();
  report(fmt::format("hmn watch: {} followed set changed: {}{}{}\n", moment_of(ms),
                     entered.empty() ? "" : "entered " + entered, both ? "; " : "",
                     left.empty() ? "" : "left " + left));
}

watched_row watch::row_of(std::uint32_t pid) {
  const auto start = is_simulated_ ? std::nullopt : process_start(roots_, pid);
  for (auto& each : rows_) {
    if (each.pid != pid) continue;
    if (!each.is_foreign) each.start = start;
    return all_.add(each);
  }
  return all_.add_absent(pid, in_.has_ended(pid), start);
}

write_result watch::print(std::uint64_t ms) {
  const watch_moment at{ms, detector_.info(), moment_of(ms)};
  std::vector<watched_row> rows;
  for (const auto pid : followed_) {
    rows.push_back(row_of(pid));
    if (const auto& message = rows.back().message; !message.empty())
      report("hmn watch: " + escape_for_text(message) + "\n");
  }
  all_.forget_beyond(followed_);
  return show(at, rows);
}

write_result watch::sample(std::uint64_t ms) {
  if (ms == 0) return print(0);
  const auto patience = std::max(asked_.watch.interval_ms, default_deadline_ms);
  auto rows = try_read(std::min(asked_.timeout_ms, patience), ms);
  if (!rows) {
    report(fmt::format("hmn watch: sample failed at {} ({}); skipping interval\n", moment_of(ms),
                       escape_for_text(rows.why().message)));
    return write_result::written;
  }
  rows_ = *std::move(rows);
  if (asked_.watch.follow_new) choose(ms);
  return print(ms);
}

write_result watch::finish() {
  const auto spill = detector_.info();
  return write_part(asked_.json ? watch_summary_json(all_, spill, episodes_of(detector_))
                                : watch_summary(all_, spill, as_));
}

expected<hypomnesis::spill> detector_of(const session& in, std::uint32_t device) {
  try {
    return in.library().detect_spill(device);
  } catch (const hypomnesis::error& why) {
    return failed(why.what());
  }
}

expected<exit_code> run_watch(const session& in, const options& asked, const style& as) {
  if (auto none = check_for_gpus(in, "no GPU to watch: ")) return misused(none->message);
  std::uint32_t index = 0;
  if (asked.device) {
    const auto found = find_device(in, *asked.device);
    if (!found) return misused(found.why().message);
    index = *found;
  }
  auto detector = detector_of(in, index);
  if (!detector) return misused(detector.why().message);
  watch running(in, asked, as, index, *std::move(detector));
  {
    const waiting_notice notice;
    if (auto refused = running.begin()) return *std::move(refused);
  }
  running.announce();
  write_result last = write_result::written;
  {
    stop_request stop;
    last = repeat({milliseconds(asked.watch.interval_ms), asked.watch.duration_ms, {}}, stop,
                  [&](std::uint64_t ms) { return running.sample(ms); });
    if (last == write_result::written) last = running.finish();
  }
  if (last == write_result::failed) return exit_code::usage;
  return running.has_spilled() ? exit_code::failed : exit_code::done;
}

constexpr option options_of_watch[] = {
    {"PID", 0, "", "Processes to track; by default those that use most", completion::pid, "",
     uses::many},
    interval_option("Time between samples [5s]", "1s 5s 1m"),
    duration_option,
    {"--top", 0, "N", "Without PID: track the top N [5]"},
    match_option("Without PID: only names that match (* ? [a-z])"),
    sort_option("Rank by vram, shared, total, ram, pid, name [vram]",
                "vram shared total ram pid name"),
    {"--follow-new", 0, "", "Select the processes again at each sample"},
    device_option("This device: index, UUID or PCI address [0]"),
    json_option("Print a JSON object on each line"),
};

constexpr std::string_view examples_of_watch =
    "Examples:\n"
    "  hmn watch --interval 2s              the five that use most, until Ctrl-C\n"
    "  hmn watch 4242 --duration 1m --json | jq .used_bytes\n"
    "  hmn watch --follow-new --top 3 --match 'python*'\n"
    "\n"
    "Exit status: 0 done, no spill seen (or it cannot be measured), 1 spill seen, 2\n"
    "failed or wrong usage. See hmn-watch(1).";

std::optional<failure> read_pids(const arguments& from, std::vector<std::uint32_t>& to) {
  for (const auto& text : from.all("PID")) {
    const auto pid = whole_number(text);
    if (!pid || *pid == 0)
      return misused(fmt::format("PID \"{}\": expected a whole number from 1 to 4294967295", text));
    if (std::find(to.begin(), to.end(), *pid) == to.end()) to.push_back(*pid);
  }
  return std::nullopt;
}

std::optional<failure> read_watch(const arguments& from, options& to) {
  auto& watch = to.watch;
  watch.follow_new = from.has("--follow-new");
  if (watch.follow_new && from.has("PID"))
    return misused(
        "watch --follow-new only applies to auto-selection; drop --follow-new or the explicit PID "
        "list");
  if ((from.has("--match") || from.has("--sort")) && from.has("PID"))
    return misused("--match and --sort choose processes: drop them, or the PIDs");
  if (auto wrong = read_text(from, "--match", a_name_pattern, watch.match)) return wrong;
  if (auto wrong = read_sort(from, std::span(sort_words).first(sort_words_of_watch), watch.sort))
    return wrong;
  if (auto wrong = read_pids(from, watch.pids)) return wrong;
  if (auto wrong = read_interval(from, watch.interval_ms)) return wrong;
  if (auto wrong = read_time(from, "--duration", watch.duration_ms)) return wrong;
  if (watch.duration_ms) watch.duration_ms = std::min(*watch.duration_ms, longest_time_ms);
  const auto text = from.text("--top");
  if (!text) return std::nullopt;
  const auto top = whole_number(*text);
  if (!top)
    return misused(
        fmt::format("--top \"{}\": expected a whole number from 0 to 4294967295", *text));
  watch.top = *top;
  return std::nullopt;
}

}  // namespace

const command_entry watch_command = {
    .id = command::watch,
    .name = "watch",
    .purpose = "Track per-process GPU memory and detect spills",
    .takes = options_of_watch,
    .examples = examples_of_watch,
    .read = read_watch,
    .run = run_watch,
};

}  // namespace hmn::cli
