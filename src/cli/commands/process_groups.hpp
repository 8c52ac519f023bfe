// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/measure/usage_groups.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Prints a line for each group of `hmn ps --by`.
std::string group_table(const std::vector<usage_group>& groups, grouping by, const style& as);
std::string group_json(const std::vector<usage_group>& groups, grouping by);

}  // namespace hmn::cli
