// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hmn::cli {

enum class stream { output, error };

// Prepares the standard streams before any output: no file opened by hmn becomes one of them, a
// closed pipe or a file of the largest size becomes a write error, and what drivers' libraries
// print goes to standard error.
void prepare_streams() noexcept;
// Returns the descriptor of the output that the user gave; 1 is a copy of standard error's.
int output_descriptor() noexcept;

struct write_end {
  enum class reason { all_written, reader_gone, failed };
  reason how = reason::all_written;
  int code = 0;  // from the system
};
// Writes UTF-8, in whole characters.
write_end write_stream(stream to, std::string_view text);
std::string message_of(const write_end& end);

}  // namespace hmn::cli
