// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/run_report.hpp"
#include "cli/measure/timeline.hpp"
#include "cli/system/child.hpp"
#include "cli/system/file.hpp"
#include "cli/system/waiting_notice.hpp"
#include "cli/text/output.hpp"
#include "cli/text/text_plot.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

struct outputs {
  std::optional<late_file> record;
  std::optional<late_file> plot;
  std::optional<late_file> json;

  std::array<std::optional<late_file>*, 3> all() { return {&record, &plot, &json}; }
};

struct requested_file {
  const char* option;
  const std::optional<std::string>& path;
  std::optional<late_file>& file;
};

// Returns why two options cannot name one file, of which the second would overwrite the first.
std::optional<failure> check_distinct(std::span<const requested_file> all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (all[i].path && all[j].path && is_same_file(*all[i].path, *all[j].path))
        return misused(fmt::format("{} and {} name the same file: \"{}\"", all[j].option,
                                   all[i].option, *all[i].path));
  return std::nullopt;
}

std::optional<failure> open_all(const run_options& asked, outputs& to) {
  const requested_file all[] = {{"--record", asked.record, to.record},
                                {"--plot", asked.plot, to.plot},
                                {"--json", asked.json, to.json}};
  if (auto twice = check_distinct(all)) return twice;
  for (const auto& each : all) {
    if (!each.path) continue;
    each.file.emplace(*each.path);
    if (!each.file->is_good()) return each.file->why();
  }
  return std::nullopt;
}

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
  return run_meter(in, devices_to_watch(in, only),
                   std::chrono::milliseconds(asked.measured.interval_ms),
                   std::chrono::milliseconds(std::min(asked.timeout_ms, default_deadline_ms)));
}

std::vector<std::uint32_t> indexes_of(const run_meter& meter) {
  std::vector<std::uint32_t> all;
  for (const auto& each : meter.devices()) all.push_back(each.before.device.index);
  return all;
}

class recorder {
 public:
  recorder(outputs& to, const options& asked, const run_meter& meter)
      : to_(to), indexes_(indexes_of(meter)) {
    if (!to_.record) return;
    form_ = *timeline_form_of(*asked.measured.record);
    to_.record->write(timeline_header(form_, indexes_));
  }
  void add(const run_sample& sample) {
    if (to_.record) to_.record->write(timeline_line(form_, sample, indexes_));
  }

 private:
  outputs& to_;
  std::vector<std::uint32_t> indexes_;
  timeline_form form_ = timeline_form::json_lines;
};

expected<child> start(const std::vector<std::string>& command, std::optional<command_group>& group,
                      std::string& why_no_group) {
  if (!group) return child::start(command);
  auto started = group->start(command, why_no_group);
  if (!why_no_group.empty()) group.reset();
  return started;
}

// Turns a success into a failure if requested output could not be written.
exit_code report(const run_outcome& of, outputs& to, const options& asked, const style& as) {
  write_report(run_text(of, asked.trace));
  if (to.plot)
    to.plot->write(asked.measured.plot == "-" ? text_of(run_plot(of), as) : svg_of(run_plot(of)));
  if (to.json) to.json->write(run_json(of));
  auto code = of.result.end.status;
  for (const auto* each : to.all()) {
    if (!*each || (*each)->is_good()) continue;
    write_notice((*each)->why().message);
    if (code == exit_code::done) code = exit_code::wrapper_failed;
  }
  return code;
}

}  // namespace

expected<exit_code> run_run(const session& in, const options& asked, const style& as) {
  outputs to;
  if (auto refused = open_all(asked.measured, to)) return *std::move(refused);
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
  recorder record(to, asked, *meter);

  result.started_unix_ns = unix_time_ns();
  const auto begun = child::clock::now();
  auto running = start(asked.words, group, result.why_no_group);
  if (!running) return running.why();
  result.own_bytes = own_peak_bytes(in);
  process_tree tree(roots, running->pid());
  meter->watch(tree, running->pid(), group ? &*group : nullptr);
  run_account account(meter->devices().size());
  do {
    const auto sample = meter->read();
    account.add(sample);
    record.add(sample);
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
  return report({result, account, *meter}, to, asked, as);
}

}  // namespace hmn::cli
