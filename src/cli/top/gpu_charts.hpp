// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <vector>

#include "cli/top/chart.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Divides an area into a grid of charts; those that do not fit are left out.
void draw_charts(frame& on, area where, const std::vector<chart>& all, const time_window& in);

// Returns the charts of one GPU: load, memory, power, temperature, PCIe.
std::vector<chart> charts_of(const state& of, const gpu_reading& gpu, bool unicode);

// Draws those of the chosen GPU, or load and memory of all GPUs.
void draw_gpu_charts(frame& on, area where, const state& of);

}  // namespace hmn::cli::top
