// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

#include "cli/expected.hpp"

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

}  // namespace hmn::cli
