// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "source/registry.hpp"

namespace hmn::simulated {

// Makers of the sources of this system, which the registry knows.
struct real_sources {
  source_list (*all)(const settings&);
  std::unique_ptr<host_source> (*host)(const settings&);
};

// Sources of a simulated machine, or those of this system with a recorder.
source_list make_sources(const settings& s, const real_sources& real);

}  // namespace hmn::simulated
