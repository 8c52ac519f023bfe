// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/top/frame.hpp"
#include "cli/top/history.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Curve of one quantity, filled from zero.
struct curve {
  const history* of = nullptr;  // NULL: nothing is known
  double top = 100;             // value of the full height
  ramp with = ramp::load;
  bool is_hanging = false;  // drawn from the upper edge down
};

// Frame with one curve, or with a second one that hangs from the middle line.
struct chart {
  std::string title;
  std::string value;  // at the right of the title
  std::string scale;  // what the full height is
  curve first;
  curve second;               // without history: none
  std::string short_value{};  // where the value does not fit
};

inline constexpr int least_chart_width = 20;
inline constexpr int least_chart_height = 4;

void draw_box(frame& on, area where, std::string_view title, std::string_view value,
              std::string_view footer, std::string_view scale);
void draw_curve(frame& on, area where, const curve& what, const time_window& in);
void draw_chart(frame& on, area where, const chart& what, const time_window& in);

// Divides an area into a grid of charts; those that do not fit are left out.
void draw_charts(frame& on, area where, const std::vector<chart>& all, const time_window& in);

// Returns the charts of one GPU: load, memory, power, temperature, PCIe.
std::vector<chart> charts_of(const state& of, const gpu_reading& gpu, bool unicode);

// Draws those of the chosen GPU, or load and memory of all GPUs.
void draw_gpu_charts(frame& on, area where, const state& of);

}  // namespace hmn::cli::top
