// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text/curve.hpp"

namespace hmn::cli {

enum class ink { first, second, third };

enum class plot_unit { bytes, percent, watts };

// Line of a panel.
struct plot_series {
  std::string name;
  ink with = ink::first;
  const curve* values = nullptr;
  bool is_filled = false;
};

// Chart among several with the same time axis.
struct plot_panel {
  std::string title;
  std::string note;  // next to the title
  std::vector<plot_series> series;
  std::optional<double> limit;  // drawn unless far above the values
  std::string limit_name;
  std::string why_empty;  // shown if no series has a point
  plot_unit unit = plot_unit::bytes;
  std::string scale{};  // panels of the same scale have the same highest value; empty: its own
};

struct plot {
  std::string title;
  std::string subtitle;
  std::uint64_t duration_ns = 0;
  std::vector<plot_panel> panels;
  std::string footnote{};  // what is not shown
};

// Returns whether no series of a panel has a point.
bool is_empty(const plot_panel& of);
// Returns the value at the upper edge of each panel.
std::vector<double> tops_of(const plot& of);
// Formats a value with its unit: "1.5 GiB", "83 %", "287 W".
std::string value_text(double value, plot_unit unit);
// Returns "the command: peak 8.00 GiB at 4 s".
std::string peak_text(const plot_series& of, plot_unit unit);

// Escapes text for an XML element's content or an attribute's value.
std::string escape_for_xml(std::string_view text);

// Returns a complete SVG 1.1 document.
std::string svg_of(const plot& of);

}  // namespace hmn::cli
