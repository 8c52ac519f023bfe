// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Access to the code of this folder: built in (inside.cpp), or in a module that is loaded on first
// use (loader.cpp).
#pragma once

#include "backends/simulated/sources.hpp"

namespace hmn::simulated {

using sources_maker = source_list (*)(const settings&, const surroundings&);

// Whether the code is available. Neither loads nor allocates anything.
bool has_code() noexcept;

// Returns the cached result after the first success.
result<sources_maker> find_code();

}  // namespace hmn::simulated
