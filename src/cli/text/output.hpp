// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "cli/expected.hpp"
#include "cli/system/output_file.hpp"

namespace hmn::cli {

enum class write_result { written, reader_gone, failed };
// Reports a failure on standard error.
write_result write_part(std::string_view text);
// Succeeds for a closed pipe; reports any other failure on standard error.
exit_code write_output(std::string_view text);
// Prints whole lines on standard error, already escaped for a terminal.
void write_report(std::string_view lines);
// Prints "hmn: <message>\n", escaped for a terminal.
void write_notice(std::string_view message);

// File that is opened before a command is started, so that an unwritable one is reported then.
class late_file {
 public:
  explicit late_file(std::string path);  // "-": standard output
  late_file(const late_file&) = delete;
  late_file& operator=(const late_file&) = delete;

  bool is_good() const { return file_ ? file_->is_good() : why_.empty(); }
  failure why() const;
  void write(std::string_view text);

 private:
  std::string path_;
  std::optional<output_file> file_;
  std::string why_;  // why standard output could not be written
};

}  // namespace hmn::cli
