// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Returns the short name, escaped. `parent`: the GPU of a partition, else NULL.
std::string gpu_name(const GpuReading& of, const GpuReading* parent, bool ascii_only);

// Conditions that need attention, in a few words: "thermal", "spill".
std::vector<ValueText> flags_of(const GpuReading& of);

void draw_gpu_table(Frame& on, const Layout& in, const State& of);

}  // namespace hmn::cli::top
