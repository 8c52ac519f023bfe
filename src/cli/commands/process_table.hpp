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
using ColumnList = std::vector<std::size_t>;

// Parses "pid,user,command"; the failure lists the valid names.
Expected<ColumnList> parse_columns(std::string_view text);
// Returns "pid, name, …".
std::string format_column_names();
bool has_column(const ColumnList& columns, std::string_view name);

Table::Cell format_size(std::optional<std::uint64_t> bytes, std::string_view mark = {});
// Formats a size, or the sign of a missing one; `field` is one of HMN_USAGE_HAS_*.
Table::Cell format_size_or_missing(const ProcessRow& row, std::optional<std::uint64_t> bytes,
                                   std::uint32_t field, std::string_view mark = {});
// Returns the cells of the named columns.
std::vector<Table::Cell> format_cells(const ProcessRow& row,
                                      std::initializer_list<std::string_view> columns,
                                      const Style& style);

// Empty `columns` select the default ones; in JSON every key except the costly ones.
std::string format_process_table(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                                 const Style& style);
std::string format_process_json(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                                bool include_pools = false);

// The keys of the JSON, as comma-separated values.
std::string format_process_csv(const std::vector<ProcessRow>& rows, const ColumnList& columns);

// Prints a line for each memory pool of each process, with its amounts.
std::string format_pool_table(const std::vector<ProcessRow>& rows, const Style& style);
// Adds "pools": an object for each pool.
void add_pools(const ProcessRow& row, JsonObject& object);

// Prints a line for each group of `hmn ps --by`.
std::string format_group_table(const std::vector<UsageGroup>& groups, Grouping grouping,
                               const Style& style);
std::string format_group_csv(const std::vector<UsageGroup>& groups, Grouping grouping);
std::string format_group_json(const std::vector<UsageGroup>& groups, Grouping grouping);

}  // namespace hmn::cli
