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
std::string all_column_names();
bool has_column(const ColumnList& columns, std::string_view name);

Table::Cell size_cell(std::optional<std::uint64_t> bytes, std::string_view mark = {});
// Returns the sign for a value that is missing; `field` is one of HMN_USAGE_HAS_*.
Table::Cell size_or_missing(const ProcessRow& row, std::optional<std::uint64_t> bytes,
                            std::uint32_t field, std::string_view mark = {});
// Returns the cells of the named columns.
std::vector<Table::Cell> cells_of(const ProcessRow& row,
                                  std::initializer_list<std::string_view> columns, const Style& as);

// Uses the default for empty `columns`; in JSON every key except the costly ones.
std::string process_table(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                          const Style& as);
std::string process_json(const std::vector<ProcessRow>& rows, const ColumnList& columns,
                         bool with_pools = false);

// The keys of the JSON, as comma-separated values.
std::string process_csv(const std::vector<ProcessRow>& rows, const ColumnList& columns);

// Prints a line for each memory pool of each process, with its amounts.
std::string pool_table(const std::vector<ProcessRow>& rows, const Style& as);
// Adds "pools": an object for each pool.
void add_pools(const ProcessRow& row, JsonObject& to);

// Prints a line for each group of `hmn ps --by`.
std::string group_table(const std::vector<UsageGroup>& groups, Grouping by, const Style& as);
std::string group_csv(const std::vector<UsageGroup>& groups, Grouping by);
std::string group_json(const std::vector<UsageGroup>& groups, Grouping by);

}  // namespace hmn::cli
