// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The rule for what can be allocated now, of the host's memory and of the pools of a device.
#pragma once

#include <cstdint>
#include <optional>

#include "model/device.hpp"
#include "model/host_memory.hpp"
#include "model/plausible.hpp"
#include "model/pool.hpp"
#include "source/interface.hpp"

namespace hmn {

// Reads the host's memory, drops implausible values, and sets the usable memory: what is available
// within the limits of the control groups.
Result<void> read_system(HostSource& host, SystemMemory& out, DropHandler report_dropped);
// Returns the total of the host's RAM; none if it is not known.
std::optional<std::uint64_t> read_total(HostSource& host);

// Sets the usable memory of a device's pools, or only of those of one kind: what the driver reports
// as usable or free, but no more than what is left of a budget, and of the host's memory where the
// pool is a part of it. A sleeping device has released all its memory. A stale value, or one of a
// device that is lost, hangs or fails, does not show what can be allocated now; and nothing can be
// allocated on a divided device, only on its partitions.
void set_usable(PoolList& pools, const Device& device, HostSource& host,
                std::optional<PoolKind> kind = {});

Failure unusable_failure(const Pool& pool, const Device& device);

}  // namespace hmn
