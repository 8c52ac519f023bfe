// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a process uses of an adapter, as a row. Pure.
#pragma once

#include "backends/dxgi/kernel.hpp"
#include "backends/dxgi/pools.hpp"
#include "model/usage.hpp"

namespace hmn::dxgi {

// Resident where the system tells it; before that came, what was promised.
usage to_usage(const wddm::process_memory& p);
void add_load(const wddm::loads& loads, usage& row);

// Of the caller.
void fill_own(const own_memory& own, usage& out);
void fill_from_kernel(const kernel_usage& told, usage& out);

}  // namespace hmn::dxgi
