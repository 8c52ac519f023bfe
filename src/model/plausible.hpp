// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which values are possible: limits of each quantity by source, relations between the fields of a
// record, and what an energy counter can have reached since its last reading.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/device.hpp"
#include "model/failure.hpp"
#include "model/function_ref.hpp"
#include "model/host_memory.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"
#include "model/usage.hpp"

namespace hmn {

// Receives the presence bit of each dropped field, of a metric its number, and the reason.
using when_dropped = function_ref<void(FieldSet field, const failure& why)>;

// For callers that can keep no diagnostic.
inline constexpr auto drop_silently = [](FieldSet, const failure&) {};

// Drop implausible values: these fields become absent.
void drop_implausible(device& d, when_dropped report);
// `most`: what its total can be, where it is a part of a device.
void drop_implausible(pool& p, when_dropped report, std::optional<std::uint64_t> most = {});
void drop_implausible(telemetry& t, when_dropped report);
// `total`: memory of the device, if known; one process cannot use more.
void drop_implausible(usage& row, std::optional<std::uint64_t> total, when_dropped report);
void drop_implausible(system_memory& m, when_dropped report);
void drop_implausible(std::vector<metric>& all, when_dropped report);

// Returns why a Unix time cannot be that of a past event.
std::optional<failure> doubt_time(source from, std::string_view what, std::uint64_t unix_ns,
                                  std::uint64_t now_ns);

struct energy_reading {
  double joules = 0;
  std::uint64_t taken_ns = 0;  // 0: never
};

// Energy counter as it was seen before. One that goes back, or rises faster than any device's power
// allows, has no value until a later reading follows the last one or the doubted one: the driver
// may have restarted it. `since_ns`: begin of this reading, in which the counter may be asked for
// twice.
struct energy_seen {
  energy_reading last, doubted;

  std::optional<failure> doubt(source from, std::string_view name, double joules,
                               std::uint64_t now_ns, std::uint64_t since_ns = UINT64_MAX);
};

// Counters of a device: by instance of HMN_METRIC_ENERGY_JOULES, and that of telemetry where it is
// none of these.
struct energy_history {
  std::array<energy_seen, 7> counters;
  std::uint64_t since_ns = UINT64_MAX;  // begin of the reading
};

void drop_jumps(telemetry& t, energy_history& seen, std::uint64_t now_ns, when_dropped report);
void drop_jumps(std::vector<metric>& all, energy_history& seen, std::uint64_t now_ns,
                when_dropped report);

}  // namespace hmn
