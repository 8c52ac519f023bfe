// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The most that a process has held of the device: with its accounting mode on, the driver raises it
// at each allocation, and keeps it when the process has ended.
#pragma once

#include <cstdint>
#include <span>

#include "backends/nvml/call.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"
#include "model/usage.hpp"

namespace hmn::nvml {

// Of processes that the driver lists now. Not with MIG, which has no accounting mode. `ours`: pids
// are those of the initial PID namespace, as the driver keeps them.
code read_accounts(const topic& t, const session& s, const known_device& of, bool ours,
                   std::span<usage> rows);

// Of one that no list has: whether the driver has kept its account.
bool find_account(const topic& t, const session& s, const known_device& of, std::uint32_t pid,
                  usage& out);

}  // namespace hmn::nvml
