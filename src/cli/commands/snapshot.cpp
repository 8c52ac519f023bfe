// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/measure/no_gpu.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {

expected<exit_code> run_snapshot(const session& in, const options&, const style&) {
  hypomnesis::snapshot_options what;
  what.collect = everything;
  const auto snapshot = in.collect(what);
  const auto written = write_output(snapshot.json() + "\n");
  if (!search_failed(snapshot)) return written;
  print_diagnostics(snapshot);
  return exit_code::failed;
}

}  // namespace hmn::cli
