// SPDX-License-Identifier: MIT OR Apache-2.0
//
// List of all sources, in order of preference.
#pragma once

#include "backends/source_list.hpp"

namespace hmn {

source_list make_sources(const settings& s);

// Whether a source is compiled in, and the library files it needs exist. Cheap.
bool is_available(source s) noexcept;

// Loads library files that a source needs. After a success it never fails.
result<void> require(source s);

}  // namespace hmn
