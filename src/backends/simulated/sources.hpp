// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/source_list.hpp"
#include "platform/stand_in.hpp"

namespace hmn::simulated {

// Library functions used by this folder, which may be in another shared object.
struct surroundings {
  source_list (*real)(const settings&);
  std::unique_ptr<host_source> (*real_host)(const settings&);
  platform::stand_in_scope::exchanging exchange;
};

// Sources of a simulated machine, or those of this system with a recorder.
source_list make_sources(const settings& s, const surroundings& here);

}  // namespace hmn::simulated
