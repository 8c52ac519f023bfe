// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/source_list.hpp"
#include "platform/stand_in.hpp"

namespace hmn::simulated {

// What this folder takes of the library that it serves, which may be another shared object.
struct surroundings {
  source_list (*real)(const settings&);
  std::unique_ptr<host_source> (*real_host)(const settings&);
  platform::stand_in_scope::exchanging exchange;
};

// The sources of a simulated machine, or those of this system while they are recorded.
source_list make_sources(const settings& s, const surroundings& here);

}  // namespace hmn::simulated
