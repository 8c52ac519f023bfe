// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/measure/look.hpp"
#include "cli/measure/no_gpu.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
expected<exit_code> run_snapshot(const context& in, const options& asked, const style&) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = everything;
  const auto picture = look(in, what, asked.trace);
  if (!picture) return picture.why();
  const auto text = picture->json();
  if (!text) return text.why();
  const auto written = write_output(*text + "\n");
  if (!search_failed(*picture)) return written;
  print_diagnostics(*picture);
  return exit_code::failed;
}

}  // namespace hmn::cli
