// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hmn::cli {

enum class Stream { output, error };

// Prepares the standard streams before any output: no file opened by hmn becomes one of them, a
// closed pipe or a file of the largest size becomes a write error, and what drivers' libraries
// print goes to standard error.
void prepare_streams() noexcept;
// Returns the descriptor of the output that the user gave; 1 is a copy of standard error's.
int output_descriptor() noexcept;

struct WriteOutcome {
  enum class Reason { all_written, reader_gone, failed };
  Reason reason = Reason::all_written;
  int code = 0;  // from the system
};
// Writes UTF-8 text; never splits a character.
WriteOutcome write_stream(Stream stream, std::string_view text);
std::string format_write_error(const WriteOutcome& outcome);

}  // namespace hmn::cli
