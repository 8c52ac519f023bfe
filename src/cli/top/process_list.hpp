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

// What of the processes is listed, and how.
struct list_choice {
  column sort = column::vram;
  bool is_reverse = false;
  std::string filter;          // part of what a row shows, in either case
  std::optional<grouping> by;  // user or container
  std::optional<std::uint32_t> device;
};

// Line of the process table: a process, or the header of the group of those below it.
struct list_line {
  const process_reading* process = nullptr;  // NULL: a header
  std::size_t group = 0;
};

struct process_list {
  std::vector<list_line> lines;
  std::vector<usage_group> groups;
  std::size_t shown = 0;   // processes among the lines
  std::size_t hidden = 0;  // by the filter
};

// Returns whether the row has the text, in whatever column.
bool matches(const process_reading& row, std::string_view filter);

// The list refers to `all`, which lacks some where it is partial.
process_list make_list(const process_readings& all, const list_choice& how,
                       bool is_partial = false);

}  // namespace hmn::cli::top
