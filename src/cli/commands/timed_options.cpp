// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/timed_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "cli/commands/common_options.hpp"
#include "cli/measure/timeline.hpp"
#include "cli/text/duration.hpp"
#include "cli/text/size_argument.hpp"
#include "cli/text/word_choice.hpp"

namespace hmn::cli {
namespace {

constexpr std::string_view plot_suffixes[] = {".svg"};
constexpr std::string_view report_suffixes[] = {".json"};

expected<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  if (parsed.ec == std::errc{} && parsed.ptr == end && count > 0) return count;
  return misused(fmt::format("--count \"{}\": expected a whole number of at least 1", text));
}

std::optional<std::uint32_t> whole(std::string_view text) {
  std::uint32_t number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

std::optional<failure> take_interval(const std::optional<std::string>& from, std::uint32_t& to) {
  if (!from) return std::nullopt;
  const auto interval = parse_interval(*from);
  if (!interval) return interval.why();
  to = *interval;
  return std::nullopt;
}

std::optional<failure> take_time(const char* option, const std::optional<std::string>& from,
                                 std::optional<std::uint64_t>& to) {
  if (!from) return std::nullopt;
  const auto time = parse_time(option, *from);
  if (!time) return time.why();
  to = *time;
  return std::nullopt;
}

void add_report(CLI::App& app, report_texts& into) {
  app.add_flag("--json", into.json, "Print the report as a JSON object");
  add_values(app, {{"--output", &into.output, "FILE", "Write the report to FILE as JSON (.json)"}});
  app.add_flag("--force", into.force, "Replace existing files of any name");
}

std::optional<failure> take_reports(const report_texts& from, std::vector<file_to_write>& to) {
  if (auto wrong = refuse_empty("--output", from.output, a_path_or_dash)) return wrong;
  if (from.json) to.push_back({"--json", "-", {}, false});
  if (from.output) to.push_back({"--output", *from.output, report_suffixes, from.force});
  return std::nullopt;
}

}  // namespace

const char* const log_examples =
    "Examples:\n"
    "  hmn log --interval 500ms --duration 1m\n"
    "  hmn log --csv > gpus.csv             until Ctrl-C\n"
    "  hmn log --count 1 --json | jq .power_watts\n"
    "\n"
    "Exit status: 0 done or interrupted, 1 failed, no GPU or no such device, 2 wrong\n"
    "usage. See hmn-log(1).";

void add_log(CLI::App& app, log_texts& into) {
  add_values(app, {{"--interval", &into.interval, "DURATION", "Time between samples [1s]"},
                   {"--count", &into.count, "N", "Exit after N samples of each device"},
                   {"--duration", &into.duration, "DURATION", "Exit after this time"}});
  app.add_flag("--json", into.json, "Print a JSON object on each line");
  app.add_flag("--csv", into.csv, "Print comma-separated values");
}

std::optional<failure> apply_log(const log_texts& from, log_options& to) {
  if (from.json && from.csv) return misused("--json and --csv: only one of them");
  if (from.count && from.duration) return misused("--count and --duration: only one of them");
  if (from.json) to.form = log_form::json;
  if (from.csv) to.form = log_form::csv;
  if (auto wrong = take_interval(from.interval, to.interval_ms)) return wrong;
  if (from.count) {
    const auto count = parse_count(*from.count);
    if (!count) return count.why();
    to.count = *count;
  }
  if (auto wrong = take_time("--duration", from.duration, to.duration_ms)) return wrong;
  return std::nullopt;
}

const char* const run_examples =
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

void add_run(CLI::App& app, run_texts& into) {
  add_values(app, {{"--record", &into.record, "FILE", "Write each sample to FILE (.jsonl or .csv)"},
                   {"--plot", &into.plot, "FILE", "Plot to FILE (.svg), or in the terminal (-)"},
                   {"--interval", &into.interval, "DURATION", "Time between samples [100ms]"}});
  add_report(app, into.report);
}

std::optional<failure> apply_run(const run_texts& from, run_options& to) {
  if (auto wrong = take_interval(from.interval, to.interval_ms)) return wrong;
  if (from.record) {
    if (const auto form = timeline_form_of(*from.record); !form) return form.why();
    to.record = {"--record", *from.record, timeline_suffixes, from.report.force};
  }
  if (from.plot && *from.plot != "-" && !from.plot->ends_with(".svg"))
    return misused(
        fmt::format("--plot \"{}\": expected a file whose name ends in .svg, or - for the terminal",
                    *from.plot));
  if (from.plot) to.plot = {"--plot", *from.plot, plot_suffixes, from.report.force};
  return take_reports(from.report, to.reports);
}

const char* const spill_examples =
    "Examples:\n"
    "  hmn spill ./train --steps 100\n"
    "  hmn spill --interval 50ms --output spill.json ./train\n"
    "\n"
    "The command starts at the first word that is not an option, or after --.\n"
    "\n"
    "Exit status: 0 done, else the command's own, or 128 + N if killed by signal N; 2\n"
    "wrong usage, 125 hmn failed, 126 command cannot be run, 127 command not found.\n"
    "See hmn-spill(1).";

void add_spill(CLI::App& app, spill_texts& into) {
  add_values(app, {{"--interval", &into.interval, "DURATION", "Time between samples [100ms]"}});
  add_report(app, into.report);
}

std::optional<failure> apply_spill(const spill_texts& from, spill_options& to) {
  if (auto wrong = take_interval(from.interval, to.interval_ms)) return wrong;
  return take_reports(from.report, to.reports);
}

const char* const wait_examples =
    "Examples:\n"
    "  hmn wait --free 12GiB\n"
    "  hmn wait --free 8GiB --any --timeout 1h env\n"
    "  hmn wait --free 512MiB --device 0 --json\n"
    "\n"
    "The command starts at the first word that is not an option, or after --.\n"
    "\n"
    "Exit status: 0 done (with a command: the command's own), 1 failed, no GPU, no\n"
    "such device or none that large, 2 wrong usage, 124 timed out, 126 command cannot\n"
    "be run, 127 command not found. See hmn-wait(1).";

void add_wait(CLI::App& app, wait_texts& into) {
  add_values(app,
             {{"--free", &into.free, "SIZE", "Free memory to wait for: 20GiB, 512MiB"},
              {"--interval", &into.interval, "DURATION", "Time between checks [5s]"},
              {"--timeout", &into.timeout, "DURATION", "Give up after this time: 30s, 5m, 1h"}});
  app.add_flag("--any", into.any, "Any device with that much free (the default)");
}

std::optional<failure> apply_wait(const wait_texts& from, bool has_device, wait_options& to) {
  if (!from.free) return misused("--free: expected the memory to wait for, as in --free 20GiB");
  const auto bytes = parse_size_argument(*from.free);
  if (!bytes) return misused("--free " + bytes.why().message);
  to.bytes = *bytes;
  if (from.any && has_device) return misused("--any and --device: only one of them");
  if (auto wrong = take_interval(from.interval, to.interval_ms)) return wrong;
  if (auto wrong = take_time("--timeout", from.timeout, to.timeout_ms)) return wrong;
  if (to.timeout_ms) to.timeout_ms = std::min(*to.timeout_ms, std::uint64_t{1} << 40U);
  return std::nullopt;
}

const char* const watch_examples =
    "Examples:\n"
    "  hmn watch --interval 2s              the five that use most, until Ctrl-C\n"
    "  hmn watch 4242 --duration 1m --json | jq .used_bytes\n"
    "  hmn watch --follow-new --top 3 --match 'python*'\n"
    "\n"
    "Exit status: 0 done, no spill seen (or it cannot be measured), 1 spill seen, 2\n"
    "failed or wrong usage. See hmn-watch(1).";

void add_watch(CLI::App& app, watch_texts& into) {
  app.add_option("PID", into.pids, "Processes to track; by default those that use most")
      ->type_name("");
  add_values(app,
             {{"--interval", &into.interval, "DURATION", "Time between samples [5s]"},
              {"--duration", &into.duration, "DURATION", "Exit after this time"},
              {"--top", &into.top, "N", "Without PID: track the top N [5]"},
              {"--match", &into.match, "GLOB", "Without PID: only names that match (* ? [a-z])"},
              {"--sort", &into.sort, "KEY", "Rank by vram, shared, total, ram, pid, name [vram]"}});
  app.add_flag("--follow-new", into.follow_new, "Select the processes again at each sample");
}

std::optional<failure> apply_watch(const watch_texts& from, watch_options& to) {
  if (from.follow_new && !from.pids.empty())
    return misused(
        "watch --follow-new only applies to auto-selection; drop --follow-new or the explicit PID "
        "list");
  to.follow_new = from.follow_new;
  if ((from.match || from.sort) && !from.pids.empty())
    return misused("--match and --sort choose processes: drop them, or the PIDs");
  if (auto wrong = refuse_empty("--match", from.match, a_name_pattern)) return wrong;
  to.match = from.match;
  if (from.sort) {
    const auto key = parse_sort_key(*from.sort);
    if (!key) return key.why();
    to.sort = *key;
  }
  for (const auto& text : from.pids) {
    const auto pid = whole(text);
    if (!pid || *pid == 0)
      return misused(fmt::format("PID \"{}\": expected a whole number from 1 to 4294967295", text));
    if (std::find(to.pids.begin(), to.pids.end(), *pid) == to.pids.end()) to.pids.push_back(*pid);
  }
  if (auto wrong = take_interval(from.interval, to.interval_ms)) return wrong;
  if (auto wrong = take_time("--duration", from.duration, to.duration_ms)) return wrong;
  if (to.duration_ms) to.duration_ms = std::min(*to.duration_ms, std::uint64_t{1} << 40U);
  if (from.top) {
    const auto top = whole(*from.top);
    if (!top)
      return misused(
          fmt::format("--top \"{}\": expected a whole number from 0 to 4294967295", *from.top));
    to.top = *top;
  }
  return std::nullopt;
}

}  // namespace hmn::cli
