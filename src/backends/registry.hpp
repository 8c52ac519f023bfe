// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The one list of the sources, in order of preference.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/backend.hpp"

namespace hmn {

struct listed_source {
  std::unique_ptr<device_source> device;
  bool stands_in = false;  // asked only when the one before it could not serve
};

struct source_list {
  std::unique_ptr<host_source> host;
  std::vector<listed_source> devices;
};

source_list make_sources(const settings& s);

// Whether a source is compiled in.
bool is_compiled_in(source s) noexcept;

}  // namespace hmn
