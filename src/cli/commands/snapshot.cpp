// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/measure/session.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

Expected<ExitCode> run_snapshot(const Session& in, const Options& asked, const Style&) {
  hypomnesis::snapshot_options all;
  all.collect = everything;
  const auto what = of_one_device(in, asked.device, all);
  if (!what) return what.why();
  const auto snapshot = in.collect(*what);
  const auto written = write_output(snapshot.json() + "\n");
  if (!search_failed(snapshot)) return written;
  print_diagnostics(snapshot);
  return ExitCode::failed;
}

constexpr Option options_of_snapshot[] = {
    json_option("Print JSON, which it always does"),
    device_option(),
};

constexpr std::string_view examples_of_snapshot =
    "Examples:\n"
    "  hmn snapshot | jq .system.available_bytes\n"
    "  hmn snapshot > report.json\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-snapshot(1).";

}  // namespace

const CommandEntry snapshot_command = {
    .id = Command::snapshot,
    .name = "snapshot",
    .purpose = "Print everything as one JSON object",
    .takes = options_of_snapshot,
    .examples = examples_of_snapshot,
    .run = run_snapshot,
};

}  // namespace hmn::cli
