// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {

void draw_process_table(Frame& on, const Layout& in, const State& of);

}  // namespace hmn::cli::top
