// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

#include "cli/exit_code.hpp"

namespace hmn::cli {

enum class write_result { written, reader_gone, failed };
// A failure is told on standard error.
write_result write_part(std::string_view text);
// A reader that has gone is done; any other failure is told on standard error.
exit_code write_output(std::string_view text);
// Whole lines on standard error, fit for a terminal already.
void write_report(std::string_view lines);
// One line, "hmn: <message>\n", with the message fit for a terminal.
void write_remark(std::string_view message);

}  // namespace hmn::cli
