// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rows of counters, made figures of adapters and processes. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/pdh/query.hpp"

namespace hmn::pdh {

// Parts of one adapter, added up: of the whole device.
void add_up(std::span<const row> rows, wddm::luid adapter, wddm::segment_sum& out);

// The same process by process; a process that is new is appended.
void add_up(std::span<const row> rows, wddm::luid adapter,
            wddm::segment_sum wddm::process_memory::*which, std::vector<wddm::process_memory>& out);

// An engine is as busy as all its processes together, a device as its busiest engine.
void add_up_loads(std::span<const row> rows, wddm::luid adapter, wddm::loads& out);

}  // namespace hmn::pdh
