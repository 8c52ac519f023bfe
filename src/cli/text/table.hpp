// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "cli/text/colour.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Table with two spaces between columns and none at line ends; widths are those of a terminal.
class table {
 public:
  enum class align { left, right };
  struct column {
    std::string title;
    align side = align::left;
    bool shrinks = false;  // may be cut on a narrow terminal
  };
  struct cell {
    std::string text;
    tone with = tone::plain;
  };

  explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }
  std::string text(const style& as) const;

 private:
  std::vector<std::size_t> natural_widths() const;
  std::vector<std::size_t> fitting_widths(std::size_t limit) const;
  std::string line(const std::vector<cell>& row, const std::vector<std::size_t>& widths,
                   const style& as) const;

  std::vector<column> columns_;
  std::vector<std::vector<cell>> rows_;
};

}  // namespace hmn::cli
