// SPDX-License-Identifier: MIT OR Apache-2.0
#include <optional>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/files.hpp"
#include "cli/commands/spill_report.hpp"
#include "cli/commands/values.hpp"
#include "cli/measure/pace.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/child.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

using std::chrono::milliseconds;

// Observes a device: its spills, or where they cannot be measured, its memory.
class Observer {
 public:
  Observer(const Session& session, std::uint32_t device)
      : session_(session), device_(device), detector_(session.library().detect_spill(device)) {}

  // Observes before the command starts; a slow driver must not delay it.
  void observe_first(const std::string& label) {
    hypomnesis::snapshot_options request;
    request.collect = hypomnesis::part::pools | hypomnesis::part::processes;
    const auto snapshot = session_.take_briefly(request);
    hmn::cli::observe(detector_, snapshot, label);
    for (const auto& pool : snapshot.pools())
      if (pool.is_main && pool.device_index == device_) add_bounds(pool, label);
  }
  void observe(const std::string& label) {
    hmn::cli::observe(detector_, label);
    if (is_measurable()) return;
    if (const auto pool = attempt([&] { return session_.library().pool(device_); }))
      add_bounds(*pool, label);
  }
  const hypomnesis::spill& detector() const { return detector_; }
  const MemoryBounds& bounds() const { return bounds_; }

 private:
  bool is_measurable() const {
    return has(detector_.info().state, hypomnesis::spill_state::measurable);
  }
  void add_bounds(const hypomnesis::pool& pool, const std::string& label) {
    if (!is_measurable() && is_fresh(pool)) bounds_.add(pool, label);
  }

  const Session& session_;
  std::uint32_t device_;
  hypomnesis::spill detector_;
  MemoryBounds bounds_;
};

Expected<Observer> make_observer(const Session& session, const Options& options) {
  const WaitingNotice notice;
  session.device_list();
  std::uint32_t index = 0;
  if (options.device) {
    const auto device = find_device(session, *options.device);
    if (!device) return device.error();
    index = *device;
  }
  return Observer(session, index);
}

std::string format_label(Child::Clock::duration elapsed, const Options& options) {
  return format_sample_time(static_cast<std::uint64_t>(elapsed / milliseconds(1)),
                            options.spill.interval_ms);
}

std::string format_json(const Observer& observer, ExitCode status) {
  JsonObject object;
  add_spill_json(observer.detector().info(), list_episodes(observer.detector()), object);
  add_bounds_json(observer.bounds(), object);
  object.add("exit_status", std::uint64_t{static_cast<std::uint32_t>(status)});
  return object.text() + "\n";
}

Expected<ExitCode> run_spill(const Session& session, const Options& options, const Style& style) {
  auto observer = make_observer(session, options);
  if (!observer) return observer.error();
  {
    const WaitingNotice notice;
    observer->observe_first(format_label({}, options));
  }
  const auto start = Child::Clock::now();
  auto child = Child::start(options.words);
  if (!child) return child.error();
  const Ticks schedule(start, milliseconds(options.spill.interval_ms));
  while (!child->wait_until(schedule.after(Child::Clock::now())))
    observer->observe(format_label(Child::Clock::now() - start, options));
  observer->observe(format_label(Child::Clock::now() - start, options));

  if (const auto& reason = child->end().lost_reason; !reason.empty())
    return Failure{child->end().status, reason};
  write_report(format_spill("hmn spill", observer->detector().info(), style.ascii_only) +
               format_bounds("hmn spill", observer->bounds()));
  auto code = child->end().status;
  const auto json = format_json(*observer, code);
  for (const auto& file : options.spill.reports)
    report_unwritten_file(write_file(file, json), code);
  return code;
}

constexpr Option spill_options[] = {
    interval_option("Time between samples [100ms]", "50ms 100ms 1s"),
    json_option("Print the report as a JSON object"),
    output_option,
    force_option("Replace existing files of any name"),
    device_option("This device: index, UUID or PCI address [0]"),
    command_argument(Occurrence::required),
};

constexpr std::string_view spill_examples =
    "Examples:\n"
    "  hmn spill ./train --steps 100\n"
    "  hmn spill --interval 50ms --output spill.json ./train\n"
    "\n"
    "The command starts at the first word that is not an option, or after --.\n"
    "\n"
    "Exit status: 0 done, else the command's own, or 128 + N if killed by signal N; 2\n"
    "wrong usage, 125 hmn failed, 126 command cannot be run, 127 command not found.\n"
    "See hmn-spill(1).";

std::optional<Failure> read_spill(const Arguments& arguments, Options& options) {
  if (auto failure = read_interval(arguments, options.spill.interval_ms)) return failure;
  return read_reports(arguments, options.spill.reports);
}

}  // namespace

const Command spill_command = {
    .id = CommandId::spill,
    .name = "spill",
    .purpose = "Run a command and report spills of GPU memory",
    .options = spill_options,
    .examples = spill_examples,
    .read = read_spill,
    .run = run_spill,
};

}  // namespace hmn::cli
