// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/top/frame.hpp"
#include "cli/top/history.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Curve of one quantity, filled from zero.
struct Curve {
  const History* history = nullptr;  // NULL: nothing is known
  double top = 100;                  // value of the full height
  ColourScale scale = ColourScale::load;
  bool is_hanging = false;  // drawn from the upper edge down
};

// Box with one curve, or with a second one that hangs from the middle line.
struct Chart {
  std::string title;
  std::string value;  // at the right of the title
  std::string scale;  // value at the full height
  Curve first;
  Curve second;               // without history: none
  std::string short_value{};  // where the value does not fit
};

inline constexpr int min_chart_width = 20;
inline constexpr int min_chart_height = 4;

void draw_box(Frame& frame, Area area, std::string_view title, std::string_view value,
              std::string_view footer, std::string_view scale);
void draw_curve(Frame& frame, Area area, const Curve& curve, const TimeWindow& window);
void draw_chart(Frame& frame, Area area, const Chart& chart, const TimeWindow& window);

// Divides an area into a grid of charts; those that do not fit are left out.
void draw_charts(Frame& frame, Area area, const std::vector<Chart>& charts,
                 const TimeWindow& window);

// Returns the charts of one GPU: load, memory, power, temperature, PCIe.
std::vector<Chart> make_gpu_charts(const State& state, const GpuReading& reading, bool unicode);

// Draws the charts of the selected GPU, or load and memory of all GPUs.
void draw_gpu_charts(Frame& frame, Area area, const State& state);

}  // namespace hmn::cli::top
