// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>

#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

inline constexpr int least_width = 60;
inline constexpr int least_height = 16;
// From this width on the line of a GPU has its clocks, fan and PCIe too.
inline constexpr int wide_table = 140;

// Parts of the main page, from top to bottom. An area without height is not shown.
struct layout {
  area header, gpus, charts, processes, footer;
  bool has_gpu_details = false;  // a second line for each GPU

  // Lines for rows, without titles.
  std::size_t gpu_rows() const {
    const auto lines = static_cast<std::size_t>(gpus.height > 0 ? gpus.height - 1 : 0);
    return has_gpu_details ? lines / 2 : lines;
  }
  std::size_t process_rows() const {
    return static_cast<std::size_t>(processes.height > 0 ? processes.height - 1 : 0);
  }
};

// Shows in a line of titles, after the column `from`, how many rows of a list are above and below
// those that are shown.
void put_hidden(frame& on, int from, int y, std::size_t first, std::size_t shown,
                std::size_t count);

layout layout_of(const state& of, area whole);
// Scrolls lists so that what is chosen is visible.
void fit(state& in, const layout& to);

}  // namespace hmn::cli::top
