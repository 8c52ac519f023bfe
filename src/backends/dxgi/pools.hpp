// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What DXGI and the counters tell of an adapter, as pools. Pure.
#pragma once

#include <optional>

#include "backends/dxgi/abi.hpp"
#include "backends/dxgi/adapters.hpp"
#include "backends/dxgi/kernel.hpp"
#include "model/pool.hpp"
#include "model/usage.hpp"

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

// What a process uses of an adapter, as a row. Pure.

// Resident where the system tells it; before that came, what was promised.
usage to_usage(const wddm::process_memory& p);
void add_load(const wddm::loads& loads, usage& row);

// Of the caller.
void fill_own(const own_memory& own, usage& out);
void fill_from_kernel(const kernel_usage& told, usage& out);

}  // namespace hmn::dxgi
