// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How the library comes to the code of this folder: it is inside (inside.cpp), or in a module that
// is loaded when it is first asked for (loader.cpp).
#pragma once

#include "backends/simulated/sources.hpp"

namespace hmn::simulated {

using sources_maker = source_list (*)(const settings&, const surroundings&);

// Whether it is there. Neither loads nor allocates anything.
bool has_code() noexcept;

// What was found once is found again.
result<sources_maker> find_code();

}  // namespace hmn::simulated
