// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The one list of the sources, in order of preference.
#pragma once

#include "backends/source_list.hpp"

namespace hmn {

source_list make_sources(const settings& s);

// Whether a source is compiled in, and what it needs of this library's own files is there. Cheap.
bool is_available(source s) noexcept;

// Loads what a source needs of this library's own files. Once it has succeeded, it does again.
result<void> require(source s);

}  // namespace hmn
