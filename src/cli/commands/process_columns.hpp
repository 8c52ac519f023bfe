// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/process_row.hpp"
#include "cli/expected.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Columns of `hmn ps`, by their position in the list of all.
using column_list = std::vector<std::size_t>;

// "pid,user,command"; the failure names what there is.
expected<column_list> parse_columns(std::string_view text);
// "pid, name, …"
std::string all_column_names();
bool has_column(const column_list& columns, std::string_view name);

// Empty `columns`: the usual ones; in JSON every key but those that cost more.
std::string process_table(const std::vector<process_row>& rows, const column_list& columns,
                          const style& as);
std::string process_json(const std::vector<process_row>& rows, const column_list& columns);

}  // namespace hmn::cli
