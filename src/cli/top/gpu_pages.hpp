// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

// Returns the short name, escaped. `parent`: the GPU of a partition, else NULL.
std::string gpu_name(const gpu_reading& of, const gpu_reading* parent, bool ascii_only);

// Conditions that need attention, in a few words: "thermal", "spill".
std::vector<value_text> flags_of(const gpu_reading& of);

void draw_gpu_table(frame& on, const layout& in, const state& of);

}  // namespace hmn::cli::top
