// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hmn::cli {

enum class stream { output, error };

// Once, before anything is written: no file that hmn opens becomes one of the standard streams, and
// a reader that went away becomes an error of writing.
void prepare_streams() noexcept;

struct write_end {
  enum class reason { all_written, reader_gone, failed };
  reason how = reason::all_written;
  int code = 0;  // the system's
};
// UTF-8, whole characters.
write_end write_stream(stream to, std::string_view text);
std::string message_of(const write_end& end);

}  // namespace hmn::cli
