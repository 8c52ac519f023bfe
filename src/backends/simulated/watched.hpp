// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/simulated/scenario.hpp"
#include "platform/recording.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

// Wraps sources, so that each call is in the scope of a recording.
std::unique_ptr<host_source> watch(std::shared_ptr<platform::recording> in,
                                   std::unique_ptr<host_source> real);
// `reported` records values of a source that reads no files; it may be null.
std::unique_ptr<device_source> watch(std::shared_ptr<platform::recording> in,
                                     std::unique_ptr<device_source> real,
                                     const std::shared_ptr<scenario>& reported);

}  // namespace hmn::simulated
