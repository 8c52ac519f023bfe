// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/output.hpp"

#include <fmt/format.h>

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

late_file::late_file(std::string path) : path_(std::move(path)) {
  if (path_ != "-") file_.emplace(path_);
}

failure late_file::why() const {
  return file_ ? failed_at(path_, file_->why()) : failed(why_);
}

void late_file::write(std::string_view text) {
  if (file_) return file_->write(text);
  const auto end = write_stream(stream::output, text);
  if (end.how == write_end::reason::failed)
    why_ = "cannot write to standard output: " + message_of(end);
}

}  // namespace hmn::cli
