// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

#include "cli/top/reading.hpp"
#include "cli/top/value_text.hpp"

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

}  // namespace hmn::cli::top
