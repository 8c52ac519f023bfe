// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What DXGI and the counters tell of an adapter, as pools. Pure.
#pragma once

#include <optional>

#include "backends/dxgi/abi.hpp"
#include "backends/dxgi/adapters.hpp"
#include "model/pool.hpp"

namespace hmn::dxgi {

// What this process may use of each segment, and does.
struct own_memory {
  memory_information local{};
  memory_information non_local{};
};

// An adapter that has all memory in its local segment, and more of it than memory of its own, lives
// on the host's RAM.
bool is_unified(const adapter& a, const std::optional<own_memory>& own) noexcept;

void add_pools(const adapter& a, const std::optional<own_memory>& own,
               const wddm::adapter_memory* in_use, pools& out);

}  // namespace hmn::dxgi
