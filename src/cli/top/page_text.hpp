// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Labelled value of a page; an unknown one has its reason.
struct entry {
  std::string label;
  std::string value;  // empty: unknown
  std::string reason;
};

inline constexpr int label_width = 20;

// Draws entries, as far as they are scrolled; long values continue on further lines. Texts are not
// yet escaped.
void draw_entries(frame& on, area where, const std::vector<entry>& all, text_position& in,
                  int labels = label_width);

// Returns the lines of a text that is cut at `width` columns.
std::vector<std::string> wrapped(const std::string& text, int width);

}  // namespace hmn::cli::top
