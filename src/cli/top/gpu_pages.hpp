// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Returns the short name, escaped. `parent`: the GPU of a partition, else NULL.
std::string format_gpu_name(const GpuReading& reading, const GpuReading* parent, bool ascii_only);

// Conditions that need attention, in a few words: "thermal", "spill".
std::vector<StyledText> make_flags(const GpuReading& reading);

void draw_gpu_table(Frame& frame, const Layout& layout, const State& state);

}  // namespace hmn::cli::top
