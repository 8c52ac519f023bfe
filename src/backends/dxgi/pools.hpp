// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Pools of an adapter, from DXGI and the counters. Pure.
#pragma once

#include <optional>

#include "backends/dxgi/abi.hpp"
#include "backends/dxgi/adapters.hpp"
#include "backends/dxgi/kernel.hpp"
#include "model/pool.hpp"
#include "model/usage.hpp"

namespace hmn::dxgi {

// Budget and usage of this process in each segment.
struct own_memory {
  memory_information local{};
  memory_information non_local{};
};

// Whether all memory is in the local segment, and exceeds the dedicated memory by no more than is
// shared: an adapter that uses host RAM.
bool is_unified(const adapter& a, const std::optional<own_memory>& own) noexcept;

void add_pools(const adapter& a, const std::optional<own_memory>& own,
               const wddm::adapter_memory* in_use, pools& out);

// Usage of an adapter by a process, as a row. Pure.

// Resident if the system reports it; else committed.
usage to_usage(const wddm::process_memory& p);
void add_load(const wddm::loads& loads, usage& row);

// Fills the values of the caller.
void fill_own(const own_memory& own, usage& out);
void fill_from_kernel(const kernel_usage& reported, usage& out);

}  // namespace hmn::dxgi
