// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

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

ProcessValues values_of(const hypomnesis::usage& row) {
  ProcessValues out;
  out.pid = row.pid;
  out.name = row.process_name;
  out.start_unix_ns = row.start_unix_ns;
  out.is_foreign = has(row.notes, note::foreign_pid);
  out.is_fresh = is_fresh(row);
  out.used = row.used_bytes;
  out.is_lower_bound = has(row.notes, note::lower_bound);
  out.shared = row.host_pool_bytes;
  return out;
}

// Returns why the process list of a device is missing.
std::optional<Failure> missing_list(const hypomnesis::snapshot& snapshot, DeviceIndex device) {
  for (const auto& each : snapshot.diagnostics())
    if (hides_processes(each) && each.device_index.value_or(device) == device)
      return failed(describe_process(each));
  return std::nullopt;
}

// Returns the age of stale values, which the sample omits; empty: there are none.
std::string stale_report(const std::vector<ProcessRow>& rows, std::string_view who,
                         const std::string& moment) {
  const auto stale = std::find_if(rows.begin(), rows.end(),
                                  [](const ProcessRow& each) { return !is_fresh(each.usage); });
  if (stale == rows.end()) return {};
  return fmt::format("{}: values at {} are not counted: {}\n", who, moment,
                     stale_text(stale->usage.age_ns));
}

// What is followed on one device.
class DeviceWatch {
 public:
  DeviceWatch(const Options& asked, DeviceIndex device, hypomnesis::spill detector, bool is_only)
      : asked_(asked.watch),
        device_(device),
        who_(is_only ? "hmn watch" : fmt::format("hmn watch: GPU {}", device)),
        detector_(std::move(detector)) {}

  // Takes the processes of a snapshot, and returns what is to be reported of them.
  Expected<std::string> read(const hypomnesis::snapshot& from, const std::string& moment);
  bool uses(std::uint32_t pid) const;
  // Follows these, or without them the top ones, and returns who came and left.
  std::string follow(std::vector<std::uint32_t> pids, const std::string& moment);
  // Appends messages to `said`.
  std::vector<WatchedRow> rows(const Session& in, std::string& said);

  DeviceIndex device() const { return device_; }
  const std::string& who() const { return who_; }
  std::size_t followed() const { return followed_.size(); }
  const hypomnesis::spill& detector() const { return detector_; }
  WatchResult result() const { return {device_, detector_.info(), &all_}; }

 private:
  std::string list_of(const std::vector<std::uint32_t>& pids,
                      const std::vector<std::uint32_t>& without) const;
  WatchedRow row_of(const Session& in, std::uint32_t pid);

  const WatchOptions& asked_;
  DeviceIndex device_;
  std::string who_;
  Roots roots_ = roots_from_environment();
  hypomnesis::spill detector_;
  std::vector<ProcessValues> rows_;  // of the last sample
  std::vector<std::uint32_t> followed_;
  Watched all_;
};

Expected<std::string> DeviceWatch::read(const hypomnesis::snapshot& from,
                                        const std::string& moment) {
  observe(detector_, from, moment);
  Gpu own;
  for (auto& each : from.devices())
    if (each.index == device_) own.device = std::move(each);
  const auto on = std::make_shared<const Gpu>(std::move(own));
  std::vector<ProcessRow> listed;
  for (auto& each : from.usages()) {
    if (each.device_index != device_) continue;
    auto& row = listed.emplace_back();
    row.usage = std::move(each);
    row.on = on;
    show_pool(row, &PoolUse::own);
  }
  if (listed.empty())
    if (auto missing = missing_list(from, device_)) return *std::move(missing);
  sort_rows(listed, asked_.sort);
  rows_.clear();
  for (const auto& each : listed) {
    rows_.push_back(values_of(each.usage));
    rows_.back().is_candidate = is_selected(asked_.match, each.usage.process_name);
  }
  return stale_report(listed, who_, moment);
}

bool DeviceWatch::uses(std::uint32_t pid) const {
  const auto is_it = [pid](const ProcessValues& each) { return each.pid == pid; };
  const auto was_it = [pid](const WatchedProcess& each) {
    return each.pid == pid && (each.used.last || each.start_unix_ns);
  };
  return std::any_of(rows_.begin(), rows_.end(), is_it) ||
         std::any_of(all_.all().begin(), all_.all().end(), was_it);
}

std::string DeviceWatch::list_of(const std::vector<std::uint32_t>& pids,
                                 const std::vector<std::uint32_t>& without) const {
  std::string text;
  for (const auto pid : pids) {
    if (std::find(without.begin(), without.end(), pid) != without.end()) continue;
    const auto row = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const ProcessValues& each) { return each.pid == pid; });
    const auto name = row != rows_.end() && row->name ? row->name : all_.name_of(pid);
    text += fmt::format("{}pid={}", text.empty() ? "" : ", ", pid);
    if (name) text += fmt::format(" ({})", escape_for_text(*name));
  }
  return text;
}

std::string DeviceWatch::follow(std::vector<std::uint32_t> pids, const std::string& moment) {
  auto chosen = asked_.pids.empty() ? choose_top(rows_, asked_.top) : std::move(pids);
  const auto entered = list_of(chosen, followed_);
  const auto left = list_of(followed_, chosen);
  followed_ = std::move(chosen);
  if (entered.empty() && left.empty()) return {};
  const bool both = !entered.empty() && !left.empty();
  return fmt::format("{}: {} followed set changed: {}{}{}\n", who_, moment,
                     entered.empty() ? "" : "entered " + entered, both ? "; " : "",
                     left.empty() ? "" : "left " + left);
}

WatchedRow DeviceWatch::row_of(const Session& in, std::uint32_t pid) {
  // Processes of a simulated machine are not on this system.
  const auto start = in.is_simulated() ? std::nullopt : process_start(roots_, pid);
  for (auto& each : rows_) {
    if (each.pid != pid) continue;
    if (!each.is_foreign) each.start = start;
    return all_.add(each);
  }
  return all_.add_absent(pid, in.has_ended(pid), start);
}

std::vector<WatchedRow> DeviceWatch::rows(const Session& in, std::string& said) {
  std::vector<WatchedRow> out;
  for (const auto pid : followed_) {
    out.push_back(row_of(in, pid));
    if (const auto& message = out.back().message; !message.empty())
      said += fmt::format("{}: {}\n", who_, escape_for_text(message));
  }
  all_.forget_beyond(followed_);
  return out;
}

class Watch {
 public:
  Watch(const Session& in, const Options& asked, const Style& as, std::vector<DeviceWatch> devices)
      : in_(in), asked_(asked), as_(as), devices_(std::move(devices)) {}

  std::optional<Failure> begin();
  void announce() const;
  // Writes one sample.
  WriteResult sample(std::uint64_t ms);
  WriteResult finish();
  bool has_spilled() const;

 private:
  std::string moment_of(std::uint64_t ms) const {
    return moment_text(ms, asked_.watch.interval_ms);
  }
  Expected<hypomnesis::snapshot> take(std::uint32_t deadline_ms) const;
  std::optional<Failure> read(std::uint32_t deadline_ms, std::uint64_t ms);
  // Returns whether the process may live, or uses a device.
  bool is_here(std::uint32_t pid) const;
  void follow(std::uint64_t ms, bool is_reported);
  std::string where() const;
  std::vector<WatchResult> results() const;
  void report(const std::string& lines);
  WriteResult append(const std::vector<WatchSample>& all);
  WriteResult show(const std::vector<WatchSample>& all);
  WriteResult print(std::uint64_t ms);

  const Session& in_;
  const Options& asked_;
  const Style& as_;
  std::vector<DeviceWatch> devices_;
  std::vector<bool> is_read_;              // of each device, whether the last sample has it
  std::vector<std::string> why_not_read_;  // of each device
  std::string label_;                      // of the only device
  bool is_first_ = true;
  RedrawnLines shown_;  // the last sample, on a terminal
};

bool Watch::has_spilled() const {
  return std::any_of(devices_.begin(), devices_.end(), [](const DeviceWatch& each) {
    return has(each.detector().info().state, hypomnesis::spill_state::ever);
  });
}

std::vector<WatchResult> Watch::results() const {
  std::vector<WatchResult> all;
  for (const auto& each : devices_) all.push_back(each.result());
  return all;
}

// Reports an event above the last sample.
void Watch::report(const std::string& lines) {
  if (lines.empty()) return;
  if (const auto removal = shown_.remove(); !removal.empty()) write_part(removal);
  write_report(lines);
}

// Writes a sample as lines, after a header in front of the first one.
WriteResult Watch::append(const std::vector<WatchSample>& all) {
  shown_ = {};
  std::string text = is_first_ && !asked_.json ? watch_header(as_.ascii_only) : std::string();
  for (const auto& sample : all)
    for (const auto& each : sample.rows)
      text += asked_.json ? watch_json(sample.at, each) : watch_line(sample.at, each);
  return text.empty() ? WriteResult::written : write_part(text);
}

// Writes a sample; on a terminal in place of the one before, if it fits.
WriteResult Watch::show(const std::vector<WatchSample>& all) {
  const auto as = choose_style(standard_output_surroundings(), asked_.colour);
  std::size_t rows = 0;
  for (const auto& each : all) rows += each.rows.size();
  if (asked_.json || as.height <= rows + 1) return append(all);
  const auto table = watch_table(all, as);
  return table ? write_part(shown_.replace(*table)) : append(all);
}

Expected<hypomnesis::snapshot> Watch::take(std::uint32_t deadline_ms) const {
  hypomnesis::snapshot_options what;
  if (devices_.size() == 1) what.device_index = devices_.front().device();
  what.collect = part::devices | part::pools | part::processes;
  what.deadline = milliseconds(deadline_ms);
  try {
    return in_.library().take(what);
  } catch (const hypomnesis::error& why) {
    return failed(why.what());
  }
}

bool Watch::is_here(std::uint32_t pid) const {
  return !in_.has_ended(pid).value_or(false) ||
         std::any_of(devices_.begin(), devices_.end(),
                     [pid](const DeviceWatch& each) { return each.uses(pid); });
}

// Reads each device; returns why there is none to be read.
std::optional<Failure> Watch::read(std::uint32_t deadline_ms, std::uint64_t ms) {
  is_read_.assign(devices_.size(), false);
  const auto snapshot = take(deadline_ms);
  if (!snapshot) return snapshot.why();
  std::optional<Failure> first;
  why_not_read_.resize(devices_.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto stale = devices_[i].read(*snapshot, moment_of(ms));
    is_read_[i] = static_cast<bool>(stale);
    const auto why = stale ? std::string() : stale.why().message;
    if (stale) report(*stale);
    if (!stale && !first) first = stale.why();
    if (!stale && devices_.size() > 1 && why != why_not_read_[i])
      report(fmt::format("{}: no values at {} ({})\n", devices_[i].who(), moment_of(ms),
                         escape_for_text(why)));
    why_not_read_[i] = why;
  }
  if (devices_.size() == 1 && label_.empty())
    for (const auto& each : gpus_of(in_, *snapshot))
      if (each.device.index == devices_.front().device()) label_ = shown_name(each).value_or("");
  const bool has_any = std::any_of(is_read_.begin(), is_read_.end(), [](bool is) { return is; });
  return has_any ? std::nullopt : first;
}

// Follows the top processes of each device; given ones where they are, or else on the first device.
void Watch::follow(std::uint64_t ms, bool is_reported) {
  std::vector<std::vector<std::uint32_t>> pids(devices_.size());
  for (const auto pid : asked_.watch.pids) {
    bool is_found = false;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (devices_[i].uses(pid)) {
        pids[i].push_back(pid);
        is_found = true;
      }
    if (!is_found) pids.front().push_back(pid);
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!is_read_[i] && asked_.watch.pids.empty()) continue;
    const auto changed = devices_[i].follow(std::move(pids[i]), moment_of(ms));
    if (is_reported) report(changed);
  }
}

std::string Watch::where() const {
  if (devices_.size() == 1) return fmt::format("device {}", devices_.front().device());
  return fmt::format("{} devices", devices_.size());
}

std::optional<Failure> Watch::begin() {
  const auto wrong = [](std::string message) { return misused(std::move(message)); };
  in_.listed();
  if (auto none = read(static_cast<std::uint32_t>(in_.patience().count()), 0))
    return wrong(fmt::format("cannot read {}: {}", where(), none->message));
  const auto& pids = asked_.watch.pids;
  if (!pids.empty() &&
      std::none_of(pids.begin(), pids.end(), [this](auto pid) { return is_here(pid); }))
    return wrong(fmt::format("PID {}: no such process", fmt::join(pids, ", ")));
  follow(0, false);
  if (std::any_of(devices_.begin(), devices_.end(),
                  [](const DeviceWatch& each) { return each.followed() > 0; }))
    return std::nullopt;
  if (asked_.watch.top == 0) return wrong("--top 0 follows no process");
  const auto none =
      fmt::format("watch found no GPU processes{} on {}",
                  asked_.watch.match ? " matching name=" + *asked_.watch.match : "", where());
  if (const auto parts = parts_of(devices_.front().device(), in_.listed().devices);
      devices_.size() == 1 && !parts.empty())
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

void Watch::announce() const {
  const auto& asked = asked_.watch;
  std::size_t followed = 0;
  for (const auto& each : devices_) followed += each.followed();
  std::string whom = fmt::format("watching {} process{}", followed, followed == 1 ? "" : "es");
  auto top = fmt::format("top {} by {}{}", asked.top, name_of(asked.sort),
                         devices_.size() > 1 ? " of each" : "");
  if (asked.match) top += " with name=" + escape_for_text(*asked.match);
  if (asked.pids.empty()) whom += fmt::format(" ({})", top);
  if (asked.follow_new)
    whom = fmt::format("following {} (re-selected every interval), {} initially", top, followed);
  const auto name = label_.empty() ? "" : fmt::format(" [{}]", escape_for_text(label_));
  const auto seconds = static_cast<double>(asked.interval_ms) / 1000;
  write_report(fmt::format("hmn watch: {}{}, interval {:g}s, {}\n", where(), name, seconds, whom));
  auto all = results();
  const auto is_only = all.size() == 1;
  std::erase_if(all, [](const WatchResult& each) {
    return has(each.spill.state, hypomnesis::spill_state::measurable);
  });
  if (!all.empty()) write_report(watch_spills(all, as_.ascii_only, is_only));
}

WriteResult Watch::print(std::uint64_t ms) {
  std::vector<WatchSample> all;
  std::string said;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!is_read_[i]) continue;
    auto& each = devices_[i];
    const WatchMoment at{ms, each.detector().info(), moment_of(ms), each.device()};
    all.push_back({at, each.rows(in_, said)});
  }
  report(said);
  const auto done = show(all);
  is_first_ = false;
  return done;
}

WriteResult Watch::sample(std::uint64_t ms) {
  if (ms == 0) return print(0);
  const auto patience = std::max(asked_.watch.interval_ms, default_deadline_ms);
  if (const auto why = read(std::min(asked_.timeout_ms, patience), ms)) {
    report(fmt::format("hmn watch: sample failed at {} ({}); skipping interval\n", moment_of(ms),
                       escape_for_text(why->message)));
    return WriteResult::written;
  }
  if (asked_.watch.follow_new || !asked_.watch.pids.empty()) follow(ms, asked_.watch.follow_new);
  return print(ms);
}

WriteResult Watch::finish() {
  if (!asked_.json) return write_part(watch_summary(results(), as_));
  std::string text;
  for (const auto& each : devices_)
    text += watch_summary_json(each.result(), episodes_of(each.detector()));
  return write_part(text);
}

Expected<hypomnesis::spill> detector_of(const Session& in, std::uint32_t device) {
  try {
    return in.library().detect_spill(device);
  } catch (const hypomnesis::error& why) {
    return failed(why.what());
  }
}

// Returns the devices of --device, or all but those that are divided, whose parts have the
// processes.
Expected<std::vector<DeviceIndex>> devices_of(const Session& in, const Options& asked) {
  if (!asked.watch.devices.empty()) return find_devices(in, asked.watch.devices);
  std::vector<DeviceIndex> all;
  for (const auto& each : in.listed().devices)
    if (!is_divided(each)) all.push_back(each.index);
  return all;
}

Expected<ExitCode> run_watch(const Session& in, const Options& asked, const Style& as) {
  if (auto none = check_for_gpus(in, "no GPU to watch: ")) return misused(none->message);
  const auto indexes = devices_of(in, asked);
  if (!indexes) return misused(indexes.why().message);
  std::vector<DeviceWatch> devices;
  for (const auto index : *indexes) {
    auto detector = detector_of(in, index);
    if (!detector) return misused(detector.why().message);
    devices.emplace_back(asked, index, *std::move(detector), indexes->size() == 1);
  }
  Watch running(in, asked, as, std::move(devices));
  {
    const WaitingNotice notice;
    if (auto refused = running.begin()) return *std::move(refused);
  }
  running.announce();
  WriteResult last = WriteResult::written;
  {
    StopRequest stop;
    last = repeat({milliseconds(asked.watch.interval_ms), asked.watch.duration_ms, {}}, stop,
                  [&](std::uint64_t ms) { return running.sample(ms); });
    if (last == WriteResult::written) last = running.finish();
  }
  if (last == WriteResult::failed) return ExitCode::usage;
  return running.has_spilled() ? ExitCode::failed : ExitCode::done;
}

constexpr Option options_of_watch[] = {
    {"PID", 0, "", "Processes to track; by default those that use most", Completion::pid, "",
     Uses::many},
    interval_option("Time between samples [5s]", "1s 5s 1m"),
    duration_option,
    {"--top", 0, "N", "Without PID: track the top N of each device [5]"},
    match_option("Without PID: only names that match (* ? [a-z])"),
    sort_option("Rank by vram, shared, total, ram, pid, name [vram]",
                "vram shared total ram pid name"),
    {"--follow-new", 0, "", "Select the processes again at each sample"},
    device_option("Only these, as in 0,1: index, UUID or PCI address", Uses::many),
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

std::optional<Failure> read_pids(const Arguments& from, std::vector<std::uint32_t>& to) {
  for (const auto& text : from.all("PID")) {
    const auto pid = whole_number(text);
    if (!pid || *pid == 0)
      return misused(fmt::format("PID \"{}\": expected a whole number from 1 to 4294967295", text));
    if (std::find(to.begin(), to.end(), *pid) == to.end()) to.push_back(*pid);
  }
  return std::nullopt;
}

std::optional<Failure> read_watch(const Arguments& from, Options& to) {
  auto& watch = to.watch;
  watch.follow_new = from.has("--follow-new");
  if (watch.follow_new && from.has("PID"))
    return misused(
        "watch --follow-new only applies to auto-selection; drop --follow-new or the explicit PID "
        "list");
  if ((from.has("--match") || from.has("--sort") || from.has("--top")) && from.has("PID"))
    return misused("--match, --sort and --top choose processes: drop them, or the PIDs");
  if (auto wrong = read_text(from, "--match", a_name_pattern, watch.match)) return wrong;
  if (auto wrong = read_sort(from, std::span(sort_words).first(sort_words_of_watch), watch.sort))
    return wrong;
  if (auto wrong = read_pids(from, watch.pids)) return wrong;
  auto devices = parse_device_list(from.all("--device"));
  if (!devices) return devices.why();
  watch.devices = *std::move(devices);
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

const CommandEntry watch_command = {
    .id = Command::watch,
    .name = "watch",
    .purpose = "Track per-process GPU memory and detect spills",
    .takes = options_of_watch,
    .examples = examples_of_watch,
    .read = read_watch,
    .run = run_watch,
};

}  // namespace hmn::cli
