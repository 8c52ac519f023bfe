// SPDX-License-Identifier: MIT OR Apache-2.0
#include <optional>

#include "cli/commands.hpp"
#include "cli/device_argument.hpp"
#include "cli/late_file.hpp"
#include "cli/output.hpp"
#include "cli/spill_detector.hpp"
#include "cli/spill_report.hpp"
#include "cli/system/child.hpp"
#include "cli/system/waiting_notice.hpp"
#include "cli/ticks.hpp"

namespace hmn::cli {
namespace {

using std::chrono::milliseconds;

expected<spill_detector> prepare_detector(const context& in, const options& asked) {
  std::uint32_t index = 0;
  if (asked.device) {
    const auto found = find_device(in, *asked.device);
    if (!found) return found.why();
    index = *found;
  }
  return spill_detector::of(in, index);
}

std::string label_at(child::clock::duration since) {
  return moment_text(static_cast<std::uint64_t>(since / milliseconds(1)));
}

std::string json_of(const spill_detector& detector, exit_code status) {
  json_object out;
  add_spill_json(detector.info(), detector.episodes(), out);
  out.add("exit_status", std::uint64_t{static_cast<std::uint32_t>(status)});
  return out.text() + "\n";
}

}  // namespace

expected<exit_code> run_spill(const context& in, const options& asked, const style& as) {
  std::optional<late_file> json;
  if (asked.spill.json) json.emplace(*asked.spill.json);
  if (json && !json->is_good()) return json->why();
  auto detector = prepare_detector(in, asked);
  if (!detector) return detector.why();
  {
    const waiting_notice notice;
    detector->observe(label_at({}));
  }
  const auto begun = child::clock::now();
  auto running = child::start(asked.words);
  if (!running) return running.why();
  const ticks schedule(begun, milliseconds(asked.spill.interval_ms));
  while (!running->wait_until(schedule.after(child::clock::now())))
    detector->observe(label_at(child::clock::now() - begun));
  detector->observe(label_at(child::clock::now() - begun));

  write_report(spill_text("hmn spill", detector->info(), as.ascii_only));
  auto code = running->status();
  if (json) json->write(json_of(*detector, code));
  if (!json || json->is_good()) return code;
  write_remark(json->why().message);
  return code == exit_code::done ? exit_code::wrapper_failed : code;
}

}  // namespace hmn::cli
