// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/measure/session.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

Expected<ExitCode> run_snapshot(const Session& session, const Options& options, const Style&) {
  hypomnesis::snapshot_options request;
  request.collect = everything;
  const auto limited_options = limit_to_device(session, options.device, request);
  if (!limited_options) return limited_options.error();
  const auto snapshot = session.collect(*limited_options);
  const auto status = write_output(snapshot.json() + "\n");
  if (!has_search_failed(snapshot)) return status;
  print_diagnostics(snapshot);
  return ExitCode::failed;
}

constexpr Option snapshot_options[] = {
    json_option("Print JSON, which it always does"),
    device_option(),
};

constexpr std::string_view snapshot_examples =
    "Examples:\n"
    "  hmn snapshot | jq .system.available_bytes\n"
    "  hmn snapshot > report.json\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-snapshot(1).";

}  // namespace

const Command snapshot_command = {
    .id = CommandId::snapshot,
    .name = "snapshot",
    .purpose = "Print everything as one JSON object",
    .options = snapshot_options,
    .examples = snapshot_examples,
    .run = run_snapshot,
};

}  // namespace hmn::cli
