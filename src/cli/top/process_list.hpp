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
enum class Column : unsigned {
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
inline constexpr std::size_t column_count = static_cast<std::size_t>(Column::command) + 1;
using ColumnSet = std::bitset<column_count>;

struct ColumnFacts {
  std::string_view title;
  std::string_view meaning;
  int least_width;
  int most_width;      // of the texts shown; more is cut
  bool is_right;       // aligned
  unsigned rank;       // the highest one is left out first on a narrow terminal
  bool is_descending;  // order when chosen
};
const ColumnFacts& facts_of(Column which);
constexpr Column column_at(std::size_t position) {
  return static_cast<Column>(position);
}

// Returns the text, escaped. `now_ns`: since 1970, for the elapsed time.
ValueText text_of(Column which, const ProcessReading& row, std::uint64_t now_ns, bool ascii_only);

// Orders by the column, descending where that is its order; unknown values come last in either
// direction. Equal ones are in the order of pids and devices.
bool comes_before(const ProcessReading& a, const ProcessReading& b, Column by, bool is_reverse);

// What of the processes is listed, and how.
struct ListChoice {
  Column sort = Column::vram;
  bool is_reverse = false;
  std::string filter;                   // part of what a row shows, in either case
  std::optional<Grouping> by;           // user or container
  std::optional<std::uint32_t> device;  // with its partitions
};

// Line of the process table: a process, or the header of the group of those below it.
struct ListLine {
  const ProcessReading* process = nullptr;  // NULL: a header
  std::size_t group = 0;
};

struct ProcessList {
  std::vector<ListLine> lines;
  std::vector<UsageGroup> groups;
  std::size_t shown = 0;   // processes among the lines
  std::size_t hidden = 0;  // by the filter
};

// Returns whether the row has the text, in whatever column.
bool matches(const ProcessReading& row, std::string_view filter);

// The list refers to `all`, which lacks some where it is partial.
ProcessList make_list(const ProcessReadings& all, const ListChoice& how, bool is_partial = false);

}  // namespace hmn::cli::top
