// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text/curve.hpp"

namespace hmn::cli {

enum class ink { first, second, third };

// One line of a panel.
struct plot_series {
  std::string name;
  ink with = ink::first;
  const curve* figure = nullptr;  // bytes
  bool is_filled = false;
};

// One chart among several, all over the same time.
struct plot_panel {
  std::string title;
  std::string note;  // beside the title
  std::vector<plot_series> series;
  std::optional<double> limit;  // bytes: drawn where it is not far above the figures
  std::string limit_name;
  std::string why_empty;  // shown where no series has a point
};

struct plot {
  std::string title;
  std::string subtitle;
  std::uint64_t duration_ns = 0;
  std::vector<plot_panel> panels;
};

// Text as the content of an XML element or an attribute's value.
std::string escape_for_xml(std::string_view text);

// A whole SVG 1.1 document.
std::string svg_of(const plot& of);

}  // namespace hmn::cli
