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
  int min_width;
  int max_width;          // of the texts shown; more is cut
  bool is_right_aligned;  // aligned
  unsigned rank;          // the highest one is dropped first on a narrow terminal
  bool is_descending;     // default order
};
const ColumnFacts& column_facts(Column column);
constexpr Column column_at(std::size_t position) {
  return static_cast<Column>(position);
}

// Returns the text, escaped. `now_ns`: since 1970, for the elapsed time.
StyledText format_column(Column column, const ProcessReading& row, std::uint64_t now_ns,
                         bool ascii_only);

// Orders by the column, descending if that is its default order; unknown values come last in either
// direction. Equal ones are in the order of pids and devices.
bool comes_before(const ProcessReading& left, const ProcessReading& right, Column column,
                  bool is_reverse);

// Which processes are listed, and in what order.
struct ListChoice {
  Column sort = Column::vram;
  bool is_reverse = false;
  std::string filter;                   // part of what a row shows, in either case
  std::optional<Grouping> grouping;     // user or container
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
  std::size_t shown_count = 0;   // processes among the lines
  std::size_t hidden_count = 0;  // by the filter
};

// Returns whether the row has the text, in whatever column.
bool matches(const ProcessReading& row, std::string_view filter);

// The list refers to `readings`. `is_partial`: some processes are missing in them.
ProcessList make_list(const ProcessReadings& readings, const ListChoice& choice,
                      bool is_partial = false);

}  // namespace hmn::cli::top
