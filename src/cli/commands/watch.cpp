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

ProcessValues make_process_values(const hypomnesis::usage& row) {
  ProcessValues values;
  values.pid = row.pid;
  values.name = row.process_name;
  values.start_unix_ns = row.start_unix_ns;
  values.is_foreign = has(row.notes, note::foreign_pid);
  values.is_fresh = is_fresh(row);
  values.used = row.used_bytes;
  values.is_lower_bound = has(row.notes, note::lower_bound);
  values.shared = row.host_pool_bytes;
  return values;
}

// Returns the failure that hides the process list of a device; none: it is there.
std::optional<Failure> find_list_failure(const hypomnesis::snapshot& snapshot, DeviceIndex device) {
  for (const auto& diagnostic : snapshot.diagnostics())
    if (hides_processes(diagnostic) && diagnostic.device_index.value_or(device) == device)
      return make_failure(describe_without_device(diagnostic));
  return std::nullopt;
}

// Formats the age of stale values, which the sample omits; empty: there are none.
std::string format_stale_notice(const std::vector<ProcessRow>& rows, std::string_view prefix,
                                const std::string& time) {
  const auto it = std::find_if(rows.begin(), rows.end(),
                               [](const ProcessRow& row) { return !is_fresh(row.usage); });
  if (it == rows.end()) return {};
  return fmt::format("{}: values at {} are not counted: {}\n", prefix, time,
                     format_stale_age(it->usage.age_ns));
}

// Processes followed on one device, and its spill detector.
class DeviceWatch {
 public:
  DeviceWatch(const Options& options, DeviceIndex device, hypomnesis::spill detector, bool is_only)
      : options_(options.watch),
        device_(device),
        prefix_(is_only ? "hmn watch" : fmt::format("hmn watch: GPU {}", device)),
        detector_(std::move(detector)) {}

  // Reads the processes of a snapshot; returns notices about them, empty if there are none.
  Expected<std::string> read(const hypomnesis::snapshot& snapshot, const std::string& time);
  bool uses(std::uint32_t pid) const;
  // Follows `pids`, or the top processes if the user gave none; returns a line about changes.
  std::string track(std::vector<std::uint32_t> pids, const std::string& time);
  // Appends their messages to `messages`.
  std::vector<WatchedRow> make_rows(const Session& session, std::string& messages);

  DeviceIndex device() const { return device_; }
  const std::string& prefix() const { return prefix_; }
  std::size_t tracked_count() const { return tracked_pids_.size(); }
  const hypomnesis::spill& detector() const { return detector_; }
  WatchResult result() const { return {device_, detector_.info(), &history_}; }

 private:
  std::string format_pids(const std::vector<std::uint32_t>& pids,
                          const std::vector<std::uint32_t>& excluded) const;
  WatchedRow make_row(const Session& session, std::uint32_t pid);

  const WatchOptions& options_;
  DeviceIndex device_;
  std::string prefix_;
  Roots roots_ = read_roots();
  hypomnesis::spill detector_;
  std::vector<ProcessValues> rows_;  // of the last sample
  std::vector<std::uint32_t> tracked_pids_;
  WatchHistory history_;
};

Expected<std::string> DeviceWatch::read(const hypomnesis::snapshot& snapshot,
                                        const std::string& time) {
  observe(detector_, snapshot, time);
  Gpu own_gpu;
  for (auto& device_info : snapshot.devices())
    if (device_info.index == device_) own_gpu.device = std::move(device_info);
  const auto shared_gpu = std::make_shared<const Gpu>(std::move(own_gpu));
  std::vector<ProcessRow> process_rows;
  for (auto& usage : snapshot.usages()) {
    if (usage.device_index != device_) continue;
    auto& row = process_rows.emplace_back();
    row.usage = std::move(usage);
    row.gpu = shared_gpu;
    select_pool(row, &PoolUse::own);
  }
  if (process_rows.empty())
    if (auto failure = find_list_failure(snapshot, device_)) return *std::move(failure);
  sort_rows(process_rows, options_.sort);
  rows_.clear();
  for (const auto& row : process_rows) {
    rows_.push_back(make_process_values(row.usage));
    rows_.back().is_candidate = is_selected(options_.match, row.usage.process_name);
  }
  return format_stale_notice(process_rows, prefix_, time);
}

bool DeviceWatch::uses(std::uint32_t pid) const {
  const auto is_listed = [pid](const ProcessValues& row) { return row.pid == pid; };
  const auto was_used = [pid](const WatchedProcess& process) {
    return process.pid == pid && (process.used.last || process.start_unix_ns);
  };
  return std::any_of(rows_.begin(), rows_.end(), is_listed) ||
         std::any_of(history_.processes().begin(), history_.processes().end(), was_used);
}

std::string DeviceWatch::format_pids(const std::vector<std::uint32_t>& pids,
                                     const std::vector<std::uint32_t>& excluded) const {
  std::string text;
  for (const auto pid : pids) {
    if (std::find(excluded.begin(), excluded.end(), pid) != excluded.end()) continue;
    const auto it = std::find_if(rows_.begin(), rows_.end(),
                                 [&](const ProcessValues& row) { return row.pid == pid; });
    const auto name = it != rows_.end() && it->name ? it->name : history_.find_name(pid);
    text += fmt::format("{}pid={}", text.empty() ? "" : ", ", pid);
    if (name) text += fmt::format(" ({})", escape_for_text(*name));
  }
  return text;
}

std::string DeviceWatch::track(std::vector<std::uint32_t> pids, const std::string& time) {
  auto selection = options_.pids.empty() ? choose_top(rows_, options_.top_count) : std::move(pids);
  const auto entered = format_pids(selection, tracked_pids_);
  const auto left = format_pids(tracked_pids_, selection);
  tracked_pids_ = std::move(selection);
  if (entered.empty() && left.empty()) return {};
  const bool both = !entered.empty() && !left.empty();
  return fmt::format("{}: {} followed set changed: {}{}{}\n", prefix_, time,
                     entered.empty() ? "" : "entered " + entered, both ? "; " : "",
                     left.empty() ? "" : "left " + left);
}

WatchedRow DeviceWatch::make_row(const Session& session, std::uint32_t pid) {
  // Processes of a simulated machine are not on this system.
  const auto start = session.is_simulated() ? std::nullopt : read_process_start(roots_, pid);
  for (auto& row : rows_) {
    if (row.pid != pid) continue;
    if (!row.is_foreign) row.start = start;
    return history_.add(row);
  }
  return history_.add_absent(pid, session.has_ended(pid), start);
}

std::vector<WatchedRow> DeviceWatch::make_rows(const Session& session, std::string& messages) {
  std::vector<WatchedRow> rows;
  for (const auto pid : tracked_pids_) {
    rows.push_back(make_row(session, pid));
    if (const auto& message = rows.back().message; !message.empty())
      messages += fmt::format("{}: {}\n", prefix_, escape_for_text(message));
  }
  history_.drop_oldest(tracked_pids_);
  return rows;
}

class Watcher {
 public:
  Watcher(const Session& session, const Options& options, const Style& style,
          std::vector<DeviceWatch> devices)
      : session_(session), options_(options), style_(style), devices_(std::move(devices)) {}

  std::optional<Failure> start();
  void announce() const;
  // Writes one sample.
  WriteResult write_sample(std::uint64_t ms);
  WriteResult finish();
  bool has_spilled() const;

 private:
  std::string format_time(std::uint64_t ms) const {
    return format_sample_time(ms, options_.watch.interval_ms);
  }
  Expected<hypomnesis::snapshot> take_snapshot(std::uint32_t deadline_ms) const;
  std::optional<Failure> read_devices(std::uint32_t deadline_ms, std::uint64_t ms);
  // Returns whether the process may still run, or uses a device.
  bool is_present(std::uint32_t pid) const;
  void track(std::uint64_t ms, bool is_reported);
  std::string describe_devices() const;
  std::vector<WatchResult> collect_results() const;
  void report_event(const std::string& lines);
  WriteResult append(const std::vector<WatchSample>& samples);
  WriteResult show(const std::vector<WatchSample>& samples);
  WriteResult print(std::uint64_t ms);

  const Session& session_;
  const Options& options_;
  const Style& style_;
  std::vector<DeviceWatch> devices_;
  std::vector<bool> is_read_;                // by device: the last sample has it
  std::vector<std::string> unread_reasons_;  // of each device
  std::string label_;                        // of the only device
  bool is_first_ = true;
  RedrawnLines screen_lines_;  // the last sample, on a terminal
};

bool Watcher::has_spilled() const {
  return std::any_of(devices_.begin(), devices_.end(), [](const DeviceWatch& device) {
    return has(device.detector().info().state, hypomnesis::spill_state::ever);
  });
}

std::vector<WatchResult> Watcher::collect_results() const {
  std::vector<WatchResult> results;
  for (const auto& device : devices_) results.push_back(device.result());
  return results;
}

// Prints the lines of an event above the last sample.
void Watcher::report_event(const std::string& lines) {
  if (lines.empty()) return;
  if (const auto removal = screen_lines_.remove(); !removal.empty()) write_chunk(removal);
  write_report(lines);
}

// Writes a sample as lines, after a header in front of the first one.
WriteResult Watcher::append(const std::vector<WatchSample>& samples) {
  screen_lines_ = {};
  std::string text =
      is_first_ && !options_.json ? format_watch_header(style_.ascii_only) : std::string();
  for (const auto& sample : samples)
    for (const auto& row : sample.rows)
      text += options_.json ? format_watch_json(sample.header, row)
                            : format_watch_line(sample.header, row);
  return text.empty() ? WriteResult::written : write_chunk(text);
}

// Writes a sample; on a terminal in place of the one before, if it fits.
WriteResult Watcher::show(const std::vector<WatchSample>& samples) {
  const auto style = choose_style(detect_output_environment(), options_.colour);
  std::size_t rows = 0;
  for (const auto& sample : samples) rows += sample.rows.size();
  if (options_.json || style.height <= rows + 1) return append(samples);
  const auto table = format_watch_table(samples, style);
  return table ? write_chunk(screen_lines_.replace(*table)) : append(samples);
}

Expected<hypomnesis::snapshot> Watcher::take_snapshot(std::uint32_t deadline_ms) const {
  hypomnesis::snapshot_options request;
  if (devices_.size() == 1) request.device_index = devices_.front().device();
  request.collect = part::devices | part::pools | part::processes;
  request.deadline = milliseconds(deadline_ms);
  try {
    return session_.library().take(request);
  } catch (const hypomnesis::error& error) {
    return make_failure(error.what());
  }
}

bool Watcher::is_present(std::uint32_t pid) const {
  return !session_.has_ended(pid).value_or(false) ||
         std::any_of(devices_.begin(), devices_.end(),
                     [pid](const DeviceWatch& device) { return device.uses(pid); });
}

// Reads all devices; returns the first failure if none could be read.
std::optional<Failure> Watcher::read_devices(std::uint32_t deadline_ms, std::uint64_t ms) {
  is_read_.assign(devices_.size(), false);
  const auto snapshot = take_snapshot(deadline_ms);
  if (!snapshot) return snapshot.error();
  std::optional<Failure> first_failure;
  unread_reasons_.resize(devices_.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto stale_notice = devices_[i].read(*snapshot, format_time(ms));
    is_read_[i] = static_cast<bool>(stale_notice);
    const auto reason = stale_notice ? std::string() : stale_notice.error().message;
    if (stale_notice) report_event(*stale_notice);
    if (!stale_notice && !first_failure) first_failure = stale_notice.error();
    if (!stale_notice && devices_.size() > 1 && reason != unread_reasons_[i])
      report_event(fmt::format("{}: no values at {} ({})\n", devices_[i].prefix(), format_time(ms),
                               escape_for_text(reason)));
    unread_reasons_[i] = reason;
  }
  if (devices_.size() == 1 && label_.empty())
    for (const auto& gpu : list_gpus(session_, *snapshot))
      if (gpu.device.index == devices_.front().device())
        label_ = get_display_name(gpu).value_or("");
  const bool has_any =
      std::any_of(is_read_.begin(), is_read_.end(), [](bool is_read) { return is_read; });
  return has_any ? std::nullopt : first_failure;
}

// Follows the top processes of each device; given PIDs on the devices they use, else on the first
// one.
void Watcher::track(std::uint64_t ms, bool is_reported) {
  std::vector<std::vector<std::uint32_t>> pids(devices_.size());
  for (const auto pid : options_.watch.pids) {
    bool is_found = false;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (devices_[i].uses(pid)) {
        pids[i].push_back(pid);
        is_found = true;
      }
    if (!is_found) pids.front().push_back(pid);
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!is_read_[i] && options_.watch.pids.empty()) continue;
    const auto change = devices_[i].track(std::move(pids[i]), format_time(ms));
    if (is_reported) report_event(change);
  }
}

std::string Watcher::describe_devices() const {
  if (devices_.size() == 1) return fmt::format("device {}", devices_.front().device());
  return fmt::format("{} devices", devices_.size());
}

std::optional<Failure> Watcher::start() {
  const auto make_error = [](std::string message) { return make_usage_error(std::move(message)); };
  session_.device_list();
  if (auto failure =
          read_devices(static_cast<std::uint32_t>(session_.reading_timeout().count()), 0))
    return make_error(fmt::format("cannot read {}: {}", describe_devices(), failure->message));
  const auto& pids = options_.watch.pids;
  if (!pids.empty() &&
      std::none_of(pids.begin(), pids.end(), [this](auto pid) { return is_present(pid); }))
    return make_error(fmt::format("PID {}: no such process", fmt::join(pids, ", ")));
  track(0, false);
  if (std::any_of(devices_.begin(), devices_.end(),
                  [](const DeviceWatch& device) { return device.tracked_count() > 0; }))
    return std::nullopt;
  if (options_.watch.top_count == 0) return make_error("--top 0 follows no process");
  const auto no_processes = fmt::format(
      "watch found no GPU processes{} on {}",
      options_.watch.match ? " matching name=" + *options_.watch.match : "", describe_devices());
  if (const auto parts =
          format_partition_option(devices_.front().device(), session_.device_list().devices);
      devices_.size() == 1 && !parts.empty())
    return make_error(
        fmt::format("{}: it is divided, its parts have them ({})", no_processes, parts));
  if (!options_.watch.follow_new)
    return make_error(
        fmt::format("{} to auto-select (top {}); re-run with an explicit PID once a "
                    "workload is running",
                    no_processes, options_.watch.top_count));
  write_notice(fmt::format("{} yet (top {} by {}); waiting for work to appear", no_processes,
                           options_.watch.top_count, format_sort_key(options_.watch.sort)));
  return std::nullopt;
}

void Watcher::announce() const {
  const auto& settings = options_.watch;
  std::size_t count = 0;
  for (const auto& device : devices_) count += device.tracked_count();
  std::string subject = fmt::format("watching {} process{}", count, count == 1 ? "" : "es");
  auto top = fmt::format("top {} by {}{}", settings.top_count, format_sort_key(settings.sort),
                         devices_.size() > 1 ? " of each" : "");
  if (settings.match) top += " with name=" + escape_for_text(*settings.match);
  if (settings.pids.empty()) subject += fmt::format(" ({})", top);
  if (settings.follow_new)
    subject = fmt::format("following {} (re-selected every interval), {} initially", top, count);
  const auto name = label_.empty() ? "" : fmt::format(" [{}]", escape_for_text(label_));
  const auto seconds = static_cast<double>(settings.interval_ms) / 1000;
  write_report(fmt::format("hmn watch: {}{}, interval {:g}s, {}\n", describe_devices(), name,
                           seconds, subject));
  auto unmeasurable = collect_results();
  const auto is_only = unmeasurable.size() == 1;
  std::erase_if(unmeasurable, [](const WatchResult& result) {
    return has(result.spill.state, hypomnesis::spill_state::measurable);
  });
  if (!unmeasurable.empty())
    write_report(format_watch_spills(unmeasurable, style_.ascii_only, is_only));
}

WriteResult Watcher::print(std::uint64_t ms) {
  std::vector<WatchSample> samples;
  std::string messages;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!is_read_[i]) continue;
    auto& device = devices_[i];
    const SampleHeader header{ms, device.detector().info(), format_time(ms), device.device()};
    samples.push_back({header, device.make_rows(session_, messages)});
  }
  report_event(messages);
  const auto result = show(samples);
  is_first_ = false;
  return result;
}

WriteResult Watcher::write_sample(std::uint64_t ms) {
  if (ms == 0) return print(0);
  const auto max_deadline_ms = std::max(options_.watch.interval_ms, default_deadline_ms);
  if (const auto failure = read_devices(std::min(options_.timeout_ms, max_deadline_ms), ms)) {
    report_event(fmt::format("hmn watch: sample failed at {} ({}); skipping interval\n",
                             format_time(ms), escape_for_text(failure->message)));
    return WriteResult::written;
  }
  if (options_.watch.follow_new || !options_.watch.pids.empty())
    track(ms, options_.watch.follow_new);
  return print(ms);
}

WriteResult Watcher::finish() {
  if (!options_.json) return write_chunk(format_watch_summary(collect_results(), style_));
  std::string text;
  for (const auto& device : devices_)
    text += format_watch_summary_json(device.result(), list_episodes(device.detector()));
  return write_chunk(text);
}

Expected<hypomnesis::spill> make_detector(const Session& session, std::uint32_t device) {
  try {
    return session.library().detect_spill(device);
  } catch (const hypomnesis::error& error) {
    return make_failure(error.what());
  }
}

// Returns the devices of --device, or all except divided ones, whose partitions have the processes.
Expected<std::vector<DeviceIndex>> select_devices(const Session& session, const Options& options) {
  if (!options.watch.devices.empty()) return find_devices(session, options.watch.devices);
  std::vector<DeviceIndex> indexes;
  for (const auto& device : session.device_list().devices)
    if (!is_divided(device)) indexes.push_back(device.index);
  return indexes;
}

Expected<ExitCode> run_watch(const Session& session, const Options& options, const Style& style) {
  if (auto failure = check_for_gpus(session, "no GPU to watch: "))
    return make_usage_error(failure->message);
  const auto indexes = select_devices(session, options);
  if (!indexes) return make_usage_error(indexes.error().message);
  std::vector<DeviceWatch> devices;
  for (const auto index : *indexes) {
    auto detector = make_detector(session, index);
    if (!detector) return make_usage_error(detector.error().message);
    devices.emplace_back(options, index, *std::move(detector), indexes->size() == 1);
  }
  Watcher watcher(session, options, style, std::move(devices));
  {
    const WaitingNotice notice;
    if (auto failure = watcher.start()) return *std::move(failure);
  }
  watcher.announce();
  WriteResult result = WriteResult::written;
  {
    StopRequest stop;
    result = repeat({milliseconds(options.watch.interval_ms), options.watch.duration_ms, {}}, stop,
                    [&](std::uint64_t ms) { return watcher.write_sample(ms); });
    if (result == WriteResult::written) result = watcher.finish();
  }
  if (result == WriteResult::failed) return ExitCode::usage;
  return watcher.has_spilled() ? ExitCode::failed : ExitCode::done;
}

constexpr Option watch_options[] = {
    {"PID", 0, "", "Processes to track; by default those that use most", Completion::pid, "",
     Occurrence::many},
    interval_option("Time between samples [5s]", "1s 5s 1m"),
    duration_option,
    {"--top", 0, "N", "Without PID: track the top N of each device [5]"},
    match_option("Without PID: only names that match (* ? [a-z])"),
    sort_option("Rank by vram, shared, total, ram, pid, name [vram]",
                "vram shared total ram pid name"),
    {"--follow-new", 0, "", "Select the processes again at each sample"},
    device_option("Only these, as in 0,1: index, UUID or PCI address", Occurrence::many),
    json_option("Print a JSON object on each line"),
};

constexpr std::string_view watch_examples =
    "Examples:\n"
    "  hmn watch --interval 2s              the five that use most, until Ctrl-C\n"
    "  hmn watch 4242 --duration 1m --json | jq .used_bytes\n"
    "  hmn watch --follow-new --top 3 --match 'python*'\n"
    "\n"
    "Exit status: 0 done, no spill seen (or it cannot be measured), 1 spill seen, 2\n"
    "failed or wrong usage. See hmn-watch(1).";

std::optional<Failure> read_pids(const Arguments& arguments, std::vector<std::uint32_t>& pids) {
  for (const auto& text : arguments.all("PID")) {
    const auto pid = parse_whole_number(text);
    if (!pid || *pid == 0)
      return make_usage_error(
          fmt::format("PID \"{}\": expected a whole number from 1 to 4294967295", text));
    if (std::find(pids.begin(), pids.end(), *pid) == pids.end()) pids.push_back(*pid);
  }
  return std::nullopt;
}

std::optional<Failure> read_watch(const Arguments& arguments, Options& options) {
  auto& watch = options.watch;
  watch.follow_new = arguments.has("--follow-new");
  if (watch.follow_new && arguments.has("PID"))
    return make_usage_error(
        "watch --follow-new only applies to auto-selection; drop --follow-new or the explicit PID "
        "list");
  if ((arguments.has("--match") || arguments.has("--sort") || arguments.has("--top")) &&
      arguments.has("PID"))
    return make_usage_error("--match, --sort and --top choose processes: drop them, or the PIDs");
  if (auto failure = read_text(arguments, "--match", expected_name_pattern, watch.match))
    return failure;
  if (auto failure =
          read_sort(arguments, std::span(sort_words).first(watch_sort_word_count), watch.sort))
    return failure;
  if (auto failure = read_pids(arguments, watch.pids)) return failure;
  auto devices = parse_device_list(arguments.all("--device"));
  if (!devices) return devices.error();
  watch.devices = *std::move(devices);
  if (auto failure = read_interval(arguments, watch.interval_ms)) return failure;
  if (auto failure = read_duration(arguments, "--duration", watch.duration_ms)) return failure;
  if (watch.duration_ms) watch.duration_ms = std::min(*watch.duration_ms, max_time_ms);
  const auto text = arguments.text("--top");
  if (!text) return std::nullopt;
  const auto top = parse_whole_number(*text);
  if (!top)
    return make_usage_error(
        fmt::format("--top \"{}\": expected a whole number from 0 to 4294967295", *text));
  watch.top_count = *top;
  return std::nullopt;
}

}  // namespace

const Command watch_command = {
    .id = CommandId::watch,
    .name = "watch",
    .purpose = "Track per-process GPU memory and detect spills",
    .options = watch_options,
    .examples = watch_examples,
    .read = read_watch,
    .run = run_watch,
};

}  // namespace hmn::cli
