// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text/curve.hpp"

namespace hmn::cli {

enum class ink { first, second, third };

// Line of a panel.
struct plot_series {
  std::string name;
  ink with = ink::first;
  const curve* values = nullptr;  // bytes
  bool is_filled = false;
};

// Chart among several with the same time axis.
struct plot_panel {
  std::string title;
  std::string note;  // next to the title
  std::vector<plot_series> series;
  std::optional<double> limit;  // bytes: drawn unless far above the values
  std::string limit_name;
  std::string why_empty;  // shown if no series has a point
};

struct plot {
  std::string title;
  std::string subtitle;
  std::uint64_t duration_ns = 0;
  std::vector<plot_panel> panels;
};

// Escapes text for an XML element's content or an attribute's value.
std::string escape_for_xml(std::string_view text);

// Returns a complete SVG 1.1 document.
std::string svg_of(const plot& of);

}  // namespace hmn::cli
