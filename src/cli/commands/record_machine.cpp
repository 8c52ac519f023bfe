// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/recording_summary.hpp"
#include "cli/measure/look.hpp"
#include "cli/system/file.hpp"
#include "cli/system/new_file.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {

expected<exit_code> run_record_machine(const context& in, const options& asked, const style&) {
  if (!asked.force && is_there(asked.file))
    return failed(fmt::format("\"{}\" is there already; --force replaces it", asked.file));
  auto what = sized<hmn_snapshot_options>();
  what.collect = everything;
  const auto picture = look(in, what, asked.trace);
  if (!picture) return picture.why();
  const auto text = in.recording();
  if (!text) return text.why();
  if (auto refused = write_new_file(asked.file, *text, asked.force)) return *std::move(refused);
  for (const auto& line : kinds_in_recording(*text)) write_remark("kept: " + line);
  write_remark(
      fmt::format("\"{}\": {} bytes; names of users and hosts, home folders, arguments, UUIDs and "
                  "serial numbers "
                  "are replaced; read it before you pass it on",
                  asked.file, text->size()));
  return exit_code::done;
}

}  // namespace hmn::cli
