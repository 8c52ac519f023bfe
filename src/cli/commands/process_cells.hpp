// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/commands/process_row.hpp"
#include "cli/text/table.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// What the columns of `hmn ps` show of a row.
table::cell show_pid(const process_row& row, const style& as);
table::cell show_name(const process_row& row, const style& as);
table::cell show_vram(const process_row& row, const style& as);
table::cell show_peak(const process_row& row, const style& as);
table::cell show_bar(const process_row& row, const style& as);
table::cell show_shared(const process_row& row, const style& as);
table::cell show_ram(const process_row& row, const style& as);
table::cell show_device(const process_row& row, const style& as);
table::cell show_type(const process_row& row, const style& as);
table::cell show_user(const process_row& row, const style& as);
table::cell show_load(const process_row& row, const style& as);
table::cell show_container(const process_row& row, const style& as);
table::cell show_command(const process_row& row, const style& as);
table::cell show_namespace_pid(const process_row& row, const style& as);

// Whether there is room for bars.
bool has_bars(const style& as);

}  // namespace hmn::cli
