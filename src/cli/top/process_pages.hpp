// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

void draw_process_table(Frame& frame, const Layout& layout, const State& state);

}  // namespace hmn::cli::top
