// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "backends/nvidia_smi/columns.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

struct column {
  std::string_view name;
  std::string_view unit;  // empty: none
};

// Lines that are neither header nor row: their number, and the start of the first ones.
class stray_lines {
 public:
  void add(std::string_view line);
  [[nodiscard]] const std::vector<text<256>>& first() const noexcept { return first_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::vector<text<256>> first_;
  std::size_t count_ = 0;
};

// Output in the form "--format=csv" with a header, with or without units in the cells. Cells are
// views into the output.
struct table {
  std::vector<column> columns;                      // empty: no header was found
  std::vector<std::vector<std::string_view>> rows;  // as many cells as columns
  stray_lines strays;
  bool is_truncated = false;  // there were more rows than requested

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  // Finds the first of several names, which are separated by blanks.
  [[nodiscard]] std::optional<std::size_t> find_first(std::string_view names) const noexcept;
};

// The tool quotes nothing: in a row with too many commas the surplus belongs to the first existing
// column of `free_text`.
table parse_table(std::string_view text, std::string_view known, std::string_view free_text,
                  std::size_t most_rows);

}  // namespace hmn::nvidia_smi
