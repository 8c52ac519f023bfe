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
  const History* of = nullptr;  // NULL: nothing is known
  double top = 100;             // value of the full height
  Ramp with = Ramp::load;
  bool is_hanging = false;  // drawn from the upper edge down
};

// Frame with one curve, or with a second one that hangs from the middle line.
struct Chart {
  std::string title;
  std::string value;  // at the right of the title
  std::string scale;  // what the full height is
  Curve first;
  Curve second;               // without history: none
  std::string short_value{};  // where the value does not fit
};

inline constexpr int least_chart_width = 20;
inline constexpr int least_chart_height = 4;

void draw_box(Frame& on, Area where, std::string_view title, std::string_view value,
              std::string_view footer, std::string_view scale);
void draw_curve(Frame& on, Area where, const Curve& what, const TimeWindow& in);
void draw_chart(Frame& on, Area where, const Chart& what, const TimeWindow& in);

// Divides an area into a grid of charts; those that do not fit are left out.
void draw_charts(Frame& on, Area where, const std::vector<Chart>& all, const TimeWindow& in);

// Returns the charts of one GPU: load, memory, power, temperature, PCIe.
std::vector<Chart> charts_of(const State& of, const GpuReading& gpu, bool unicode);

// Draws those of the chosen GPU, or load and memory of all GPUs.
void draw_gpu_charts(Frame& on, Area where, const State& of);

}  // namespace hmn::cli::top
