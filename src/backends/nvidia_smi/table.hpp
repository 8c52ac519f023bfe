// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/nvidia_smi/columns.hpp"

namespace hmn::nvidia_smi {

struct column {
  std::string_view name;
  std::string_view unit;  // empty: none
};

// One answer in the form "--format=csv" with its header, units in the cells or not. All texts point
// into the answer.
struct table {
  std::vector<column> columns;                      // empty: no header was found
  std::vector<std::vector<std::string_view>> rows;  // as many cells as columns
  std::vector<std::string_view> strays;             // lines that are neither header nor row

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
};

// A line whose cells are all column names, at least one of which is in `known`.
std::vector<column> parse_header(std::string_view line, std::span<const spellings> known);

// The tool quotes nothing: in a row with too many commas the surplus belongs to the column in
// `free_text` that is there and stands first in that list.
table parse_table(std::string_view text, std::span<const spellings> known,
                  std::span<const std::string_view> free_text);

}  // namespace hmn::nvidia_smi
