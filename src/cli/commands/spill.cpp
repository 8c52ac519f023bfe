// SPDX-License-Identifier: MIT OR Apache-2.0
#include <optional>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/spill_report.hpp"
#include "cli/measure/ticks.hpp"
#include "cli/system/child.hpp"
#include "cli/system/waiting_notice.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

using std::chrono::milliseconds;

expected<hypomnesis::spill> make_detector(const session& in, const options& asked) {
  std::uint32_t index = 0;
  if (asked.device) {
    const auto found = find_device(in, *asked.device);
    if (!found) return found.why();
    index = *found;
  }
  return in.library().detect_spill(index);
}

std::string label_at(child::clock::duration since, const options& asked) {
  return moment_text(static_cast<std::uint64_t>(since / milliseconds(1)), asked.spill.interval_ms);
}

std::string json_of(const hypomnesis::spill& detector, exit_code status) {
  json_object out;
  add_spill_json(detector.info(), episodes_of(detector), out);
  out.add("exit_status", std::uint64_t{static_cast<std::uint32_t>(status)});
  return out.text() + "\n";
}

}  // namespace

expected<exit_code> run_spill(const session& in, const options& asked, const style& as) {
  std::optional<late_file> json;
  if (asked.spill.json) json.emplace(*asked.spill.json);
  if (json && !json->is_good()) return json->why();
  auto detector = make_detector(in, asked);
  if (!detector) return detector.why();
  {
    const waiting_notice notice;
    observe(*detector, label_at({}, asked));
  }
  const auto begun = child::clock::now();
  auto running = child::start(asked.words);
  if (!running) return running.why();
  const ticks schedule(begun, milliseconds(asked.spill.interval_ms));
  while (!running->wait_until(schedule.after(child::clock::now())))
    observe(*detector, label_at(child::clock::now() - begun, asked));
  observe(*detector, label_at(child::clock::now() - begun, asked));

  if (const auto& why = running->end().why_lost; !why.empty())
    return failure{running->end().status, why};
  write_report(spill_text("hmn spill", detector->info(), as.ascii_only));
  auto code = running->end().status;
  if (json) json->write(json_of(*detector, code));
  if (!json || json->is_good()) return code;
  write_notice(json->why().message);
  return code == exit_code::done ? exit_code::wrapper_failed : code;
}

}  // namespace hmn::cli
