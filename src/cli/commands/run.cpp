// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <optional>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/files.hpp"
#include "cli/commands/run_report.hpp"
#include "cli/commands/values.hpp"
#include "cli/measure/timeline.hpp"
#include "cli/system/child.hpp"
#include "cli/system/file.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/output.hpp"
#include "cli/text/text_plot.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

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
