// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Conversion of counter rows to values of adapters and processes. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/pdh/query.hpp"

namespace hmn::pdh {

// Sums the parts of one adapter for the whole device.
void add_up(std::span<const row> rows, wddm::luid adapter, wddm::segment_sum& out);

// Sums them by process; a new process is appended.
void add_up(std::span<const row> rows, wddm::luid adapter,
            wddm::segment_sum wddm::process_memory::*which, std::vector<wddm::process_memory>& out);

// Load of an engine is the sum of its processes, load of a device that of its busiest engine.
void add_up_loads(std::span<const row> rows, wddm::luid adapter, wddm::loads& out);

}  // namespace hmn::pdh
