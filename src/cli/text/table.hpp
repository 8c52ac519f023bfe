// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/text/output.hpp"

namespace hmn::cli {

// Table with two spaces between columns, one where it is narrow, and none at line ends; widths are
// those of a terminal.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align alignment = Align::left;
    bool shrinks = false;       // may be cut on a narrow terminal
    std::size_t min_width = 8;  // columns that remain after a cut
    bool cut_middle = false;    // keeps both ends
    bool is_optional = false;   // removed by remove_empty
  };
  struct Cell {
    std::string text;
    Tone tone = Tone::plain;
    std::vector<std::string> shorter{};  // alternatives to a cut, the longest first
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  // Removes the optional columns without any text.
  void remove_empty();
  std::string text(const Style& style) const;
  // Returns whether the lines can be cut to that width.
  bool fits(std::size_t width) const;
  // Sets the number of spaces between columns.
  void set_gap(std::size_t columns) { gap_ = columns; }

 private:
  std::vector<std::size_t> natural_widths() const;
  std::vector<std::size_t> fitting_widths(std::size_t limit) const;
  std::vector<std::size_t> min_widths() const;
  std::size_t line_width(const std::vector<std::size_t>& widths) const;
  std::string format_line(const std::vector<Cell>& row, const std::vector<std::size_t>& widths,
                          const Style& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::size_t gap_ = 2;
};

// Draws "[####----]" with `cells` inside the brackets. Only 0 is empty and only 1 is full.
std::string draw_bar(double fraction, unsigned cells, bool unicode);

// Returns "~" for an estimate, ">=" for a lower bound.
std::string_view accuracy_mark(hypomnesis::note notes) noexcept;

}  // namespace hmn::cli
