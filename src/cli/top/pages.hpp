// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

// Pages that take the place of the main one. Each uses the area between header and footer.
namespace hmn::cli::top {

void draw_help_page(frame& on, area where, state& of);
void draw_gpu_page(frame& on, area where, state& of);
void draw_process_page(frame& on, area where, state& of);
void draw_columns_page(frame& on, area where, const state& of);
void draw_signals_page(frame& on, area where, const state& of);
void draw_confirmation(frame& on, area where, const state& of);

}  // namespace hmn::cli::top
