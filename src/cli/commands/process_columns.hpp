// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/process_row.hpp"
#include "cli/expected.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Columns of `hmn ps`, by their position in the full list.
using column_list = std::vector<std::size_t>;

// Parses "pid,user,command"; the failure lists the valid names.
expected<column_list> parse_columns(std::string_view text);
// Returns "pid, name, …".
std::string all_column_names();
bool has_column(const column_list& columns, std::string_view name);

// Uses the default for empty `columns`; in JSON every key except the costly ones.
std::string process_table(const std::vector<process_row>& rows, const column_list& columns,
                          const style& as);
std::string process_json(const std::vector<process_row>& rows, const column_list& columns);

}  // namespace hmn::cli
