// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/usage_groups.hpp"
#include "cli/top/column.hpp"
#include "cli/top/reading.hpp"

namespace hmn::cli::top {

enum class grouping { none, user, container };

// What of the processes is listed, and how.
struct list_choice {
  column sort = column::vram;
  bool is_reverse = false;
  std::string filter;  // part of what a row shows, in either case
  grouping by = grouping::none;
  std::optional<std::uint32_t> device;
};

// Sums of a group. Rows without a value make a sum a lower bound.
struct process_group {
  std::string name;
  std::size_t processes = 0;
  usage_tally used;
  std::optional<double> busy_percent;
  bool is_busy_at_least = false;
};

// Line of the process table: a process, or the header of the group of those below it.
struct list_line {
  const process_reading* process = nullptr;  // NULL: a header
  std::size_t group = 0;
};

struct process_list {
  std::vector<list_line> lines;
  std::vector<process_group> groups;
  std::size_t shown = 0;   // processes among the lines
  std::size_t hidden = 0;  // by the filter
};

// Returns whether the row has the text, in whatever column.
bool matches(const process_reading& row, std::string_view filter);

// The list refers to `all`.
process_list make_list(const process_readings& all, const list_choice& how);

}  // namespace hmn::cli::top
