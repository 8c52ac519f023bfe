// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/output.hpp"

#include <string>

#include "cli/system/streams.hpp"
#include "cli/text/escape.hpp"

namespace hmn::cli {

write_result write_part(std::string_view text) {
  const auto end = write_stream(stream::output, text);
  if (end.how == write_end::reason::all_written) return write_result::written;
  if (end.how == write_end::reason::reader_gone) return write_result::reader_gone;
  write_notice("cannot write to standard output: " + message_of(end));
  return write_result::failed;
}

exit_code write_output(std::string_view text) {
  return write_part(text) == write_result::failed ? exit_code::failed : exit_code::done;
}

void write_report(std::string_view lines) {
  write_stream(stream::error, lines);
}

void write_notice(std::string_view message) {
  write_stream(stream::error, std::string("hmn: ").append(escape_for_text(message)).append("\n"));
}

}  // namespace hmn::cli
