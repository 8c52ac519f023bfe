// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which values are possible: limits of each unit, and relations between the fields of a record.
// Sentinels of a driver are its source's to know.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/failure.hpp"
#include "model/function_ref.hpp"
#include "model/host_memory.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"
#include "model/usage.hpp"

namespace hmn {

// Receives the presence bit of each dropped field, of a metric its number, and the reason.
using when_dropped = function_ref<void(std::uint32_t field, const failure& why)>;

// Ignores what is dropped, where no diagnostic can be kept.
inline constexpr auto drop_silently = [](std::uint32_t, const failure&) {};

// Drop the values that cannot be: these fields become absent.
void drop_implausible(pool& p, when_dropped report);
void drop_implausible(telemetry& t, when_dropped report);
// `total`: memory of the device, if known; one process cannot use more.
void drop_implausible(usage& row, std::optional<std::uint64_t> total, when_dropped report);
void drop_implausible(system_memory& m, when_dropped report);
void drop_implausible(std::vector<metric>& all, when_dropped report);

}  // namespace hmn
