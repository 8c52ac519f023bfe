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
using WhenDropped = FunctionRef<void(FieldSet field, const Failure& why)>;

// For callers that can keep no diagnostic.
inline constexpr auto drop_silently = [](FieldSet, const Failure&) {};

// Drop implausible values: these fields become absent.
void drop_implausible(Device& d, WhenDropped report);
// `most`: what its total can be, where it is a part of a device.
void drop_implausible(Pool& p, WhenDropped report, std::optional<std::uint64_t> most = {});
void drop_implausible(Telemetry& t, WhenDropped report);
// `total`: memory of the device, if known; one process cannot use more.
void drop_implausible(Usage& row, std::optional<std::uint64_t> total, WhenDropped report);
void drop_implausible(SystemMemory& m, WhenDropped report);
void drop_implausible(std::vector<Metric>& all, WhenDropped report);

// Returns why a Unix time cannot be that of a past event.
std::optional<Failure> doubt_time(Source from, std::string_view what, std::uint64_t unix_ns,
                                  std::uint64_t now_ns);

struct EnergyReading {
  double joules = 0;
  std::uint64_t taken_ns = 0;  // 0: never
};

// Energy counter as it was seen before. One that goes back, or rises faster than any device's power
// allows, has no value until a later reading follows the last one or the doubted one: the driver
// may have restarted it. `since_ns`: begin of this reading, in which the counter may be asked for
// twice.
struct EnergySeen {
  EnergyReading last, doubted;

  std::optional<Failure> doubt(Source from, std::string_view name, double joules,
                               std::uint64_t now_ns, std::uint64_t since_ns = UINT64_MAX);
};

// Counters of a device: by instance of HMN_METRIC_ENERGY_JOULES, and that of telemetry where it is
// none of these.
struct EnergyHistory {
  std::array<EnergySeen, 7> counters;
  std::uint64_t since_ns = UINT64_MAX;  // begin of the reading
};

void drop_jumps(Telemetry& t, EnergyHistory& seen, std::uint64_t now_ns, WhenDropped report);
void drop_jumps(std::vector<Metric>& all, EnergyHistory& seen, std::uint64_t now_ns,
                WhenDropped report);

}  // namespace hmn
