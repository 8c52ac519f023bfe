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
  Observer(const Session& in, std::uint32_t device)
      : in_(in), device_(device), detector_(in.library().detect_spill(device)) {}

  // Observes before the command, which does not wait for a driver that is slow.
  void observe_first(const std::string& label) {
    hypomnesis::snapshot_options what;
    what.collect = hypomnesis::part::pools | hypomnesis::part::processes;
    const auto seen = in_.take_briefly(what);
    hmn::cli::observe(detector_, seen, label);
    for (const auto& pool : seen.pools())
      if (pool.is_main && pool.device_index == device_) add_bounds(pool, label);
  }
  void observe(const std::string& label) {
    hmn::cli::observe(detector_, label);
    if (is_measurable()) return;
    if (const auto pool = attempt([&] { return in_.library().pool(device_); }))
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

  const Session& in_;
  std::uint32_t device_;
  hypomnesis::spill detector_;
  MemoryBounds bounds_;
};

Expected<Observer> make_observer(const Session& in, const Options& asked) {
  const WaitingNotice notice;
  in.listed();
  std::uint32_t index = 0;
  if (asked.device) {
    const auto found = find_device(in, *asked.device);
    if (!found) return found.why();
    index = *found;
  }
  return Observer(in, index);
}

std::string label_at(Child::Clock::duration since, const Options& asked) {
  return moment_text(static_cast<std::uint64_t>(since / milliseconds(1)), asked.spill.interval_ms);
}

std::string json_of(const Observer& of, ExitCode status) {
  JsonObject out;
  add_spill_json(of.detector().info(), episodes_of(of.detector()), out);
  add_bounds_json(of.bounds(), out);
  out.add("exit_status", std::uint64_t{static_cast<std::uint32_t>(status)});
  return out.text() + "\n";
}

Expected<ExitCode> run_spill(const Session& in, const Options& asked, const Style& as) {
  auto observing = make_observer(in, asked);
  if (!observing) return observing.why();
  {
    const WaitingNotice notice;
    observing->observe_first(label_at({}, asked));
  }
  const auto begun = Child::Clock::now();
  auto running = Child::start(asked.words);
  if (!running) return running.why();
  const Ticks schedule(begun, milliseconds(asked.spill.interval_ms));
  while (!running->wait_until(schedule.after(Child::Clock::now())))
    observing->observe(label_at(Child::Clock::now() - begun, asked));
  observing->observe(label_at(Child::Clock::now() - begun, asked));

  if (const auto& why = running->end().why_lost; !why.empty())
    return Failure{running->end().status, why};
  write_report(spill_text("hmn spill", observing->detector().info(), as.ascii_only) +
               bounds_text("hmn spill", observing->bounds()));
  auto code = running->end().status;
  const auto json = json_of(*observing, code);
  for (const auto& each : asked.spill.reports) count_unwritten(write_file(each, json), code);
  return code;
}

constexpr Option options_of_spill[] = {
    interval_option("Time between samples [100ms]", "50ms 100ms 1s"),
    json_option("Print the report as a JSON object"),
    output_option,
    force_option("Replace existing files of any name"),
    device_option("This device: index, UUID or PCI address [0]"),
    command_argument(Uses::required),
};

constexpr std::string_view examples_of_spill =
    "Examples:\n"
    "  hmn spill ./train --steps 100\n"
    "  hmn spill --interval 50ms --output spill.json ./train\n"
    "\n"
    "The command starts at the first word that is not an option, or after --.\n"
    "\n"
    "Exit status: 0 done, else the command's own, or 128 + N if killed by signal N; 2\n"
    "wrong usage, 125 hmn failed, 126 command cannot be run, 127 command not found.\n"
    "See hmn-spill(1).";

std::optional<Failure> read_spill(const Arguments& from, Options& to) {
  if (auto wrong = read_interval(from, to.spill.interval_ms)) return wrong;
  return read_reports(from, to.spill.reports);
}

}  // namespace

const CommandEntry spill_command = {
    .id = Command::spill,
    .name = "spill",
    .purpose = "Run a command and report spills of GPU memory",
    .takes = options_of_spill,
    .examples = examples_of_spill,
    .read = read_spill,
    .run = run_spill,
};

}  // namespace hmn::cli
