// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/measure/process_row.hpp"
#include "cli/text/json.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Prints a line for each memory pool of each process, with its amounts.
std::string pool_table(const std::vector<process_row>& rows, const style& as);
// Adds "pools": an object for each pool.
void add_pools(const process_row& row, json_object& to);

}  // namespace hmn::cli
