// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/measure/processes.hpp"
#include "cli/text/json.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"

namespace hmn::cli {

// Columns of `hmn ps`, by their position in the full list.
using column_list = std::vector<std::size_t>;

// Parses "pid,user,command"; the failure lists the valid names.
expected<column_list> parse_columns(std::string_view text);
// Returns "pid, name, …".
std::string all_column_names();
bool has_column(const column_list& columns, std::string_view name);

table::cell size_cell(std::optional<std::uint64_t> bytes, std::string_view mark = {});
// Returns the sign for a value that is missing; `field` is one of HMN_USAGE_HAS_*.
table::cell size_or_missing(const process_row& row, std::optional<std::uint64_t> bytes,
                            std::uint32_t field, std::string_view mark = {});
// Returns the cells of the named columns.
std::vector<table::cell> cells_of(const process_row& row,
                                  std::initializer_list<std::string_view> columns, const style& as);

// Uses the default for empty `columns`; in JSON every key except the costly ones.
std::string process_table(const std::vector<process_row>& rows, const column_list& columns,
                          const style& as);
std::string process_json(const std::vector<process_row>& rows, const column_list& columns,
                         bool with_pools = false);

// The keys of the JSON, as comma-separated values.
std::string process_csv(const std::vector<process_row>& rows, const column_list& columns);

// Prints a line for each memory pool of each process, with its amounts.
std::string pool_table(const std::vector<process_row>& rows, const style& as);
// Adds "pools": an object for each pool.
void add_pools(const process_row& row, json_object& to);

// Prints a line for each group of `hmn ps --by`.
std::string group_table(const std::vector<usage_group>& groups, grouping by, const style& as);
std::string group_csv(const std::vector<usage_group>& groups, grouping by);
std::string group_json(const std::vector<usage_group>& groups, grouping by);

}  // namespace hmn::cli
