// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/measure/processes.hpp"
#include "cli/top/frame.hpp"
#include "cli/top/reader.hpp"

namespace hmn::cli::top {

// Columns of the process table, in order.
enum class column : unsigned {
  pid,
  user,
  device,
  type,
  load,
  vram,
  ram,
  cpu,
  elapsed,
  container,
  command
};
inline constexpr std::size_t column_count = static_cast<std::size_t>(column::command) + 1;
using column_set = std::bitset<column_count>;

struct column_facts {
  std::string_view title;
  std::string_view meaning;
  int least_width;
  int most_width;      // of the texts shown; more is cut
  bool is_right;       // aligned
  unsigned rank;       // the highest one is left out first on a narrow terminal
  bool is_descending;  // order when chosen
};
const column_facts& facts_of(column which);
constexpr column column_at(std::size_t position) {
  return static_cast<column>(position);
}

// Returns the text, escaped. `now_ns`: since 1970, for the elapsed time.
value_text text_of(column which, const process_reading& row, std::uint64_t now_ns, bool ascii_only);

// Orders by the column, descending where that is its order; unknown values come last in either
// direction. Equal ones are in the order of pids and devices.
bool comes_before(const process_reading& a, const process_reading& b, column by, bool is_reverse);

// What of the processes is listed, and how.
struct list_choice {
  column sort = column::vram;
  bool is_reverse = false;
  std::string filter;                   // part of what a row shows, in either case
  std::optional<grouping> by;           // user or container
  std::optional<std::uint32_t> device;  // with its partitions
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
