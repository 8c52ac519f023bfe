// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/backend.hpp"
#include "backends/simulated/scenario.hpp"
#include "platform/recording.hpp"

namespace hmn::simulated {

// The recording that calls stand in the scope of, and how a thread comes to ask it.
struct watching {
  std::shared_ptr<platform::recording> in;
  platform::stand_in_scope::exchanging exchange;
};

// Sources whose every call stands in the scope of a recording.
std::unique_ptr<host_source> watch(watching in, std::unique_ptr<host_source> real);
// `told` keeps what a source says that does not read files; it may be none.
std::unique_ptr<device_source> watch(watching in, std::unique_ptr<device_source> real,
                                     const std::shared_ptr<scenario>& told);

}  // namespace hmn::simulated
