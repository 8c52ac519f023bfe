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

// Receives the presence bit of each dropped field (for a metric, missing_metric()) and the reason.
using DropHandler = FunctionRef<void(FieldSet field, const Failure& failure)>;

// For callers that cannot store a diagnostic.
inline constexpr auto drop_silently = [](FieldSet, const Failure&) {};

// Drop implausible values: these fields become absent.
void drop_implausible(Device& device, DropHandler report);
// `max_total`: upper limit of its total, if it is a part of a device.
void drop_implausible(Pool& pool, DropHandler report, std::optional<std::uint64_t> max_total = {});
void drop_implausible(Telemetry& telemetry, DropHandler report);
// `total`: memory of the device, if known; one process cannot use more.
void drop_implausible(Usage& row, std::optional<std::uint64_t> total, DropHandler report);
void drop_implausible(SystemMemory& memory, DropHandler report);
void drop_implausible(std::vector<Metric>& metrics, DropHandler report);

// Returns a failure if a Unix time is in the future.
std::optional<Failure> check_time(Source source, std::string_view name, std::uint64_t unix_ns,
                                  std::uint64_t now_ns);

struct EnergyReading {
  double joules = 0;
  std::uint64_t time_ns = 0;  // 0: never
};

// Previous readings of an energy counter. One that goes back, or rises faster than any device's
// power allows, has no value until a later reading is consistent with the last or the suspect one:
// the driver may have restarted it. `start_ns`: start of this reading, in which the counter may be
// read twice.
struct EnergyCounter {
  EnergyReading last, suspect;

  std::optional<Failure> check_reading(Source source, std::string_view name, double joules,
                                       std::uint64_t now_ns, std::uint64_t start_ns = UINT64_MAX);
};

// Counters of a device, by instance of HMN_METRIC_ENERGY_JOULES; the last one is telemetry's, where
// it is none of these.
struct EnergyHistory {
  std::array<EnergyCounter, 7> counters;
  std::uint64_t start_ns = UINT64_MAX;  // of the reading
};

void drop_jumps(Telemetry& telemetry, EnergyHistory& history, std::uint64_t now_ns,
                DropHandler report);
void drop_jumps(std::vector<Metric>& metrics, EnergyHistory& history, std::uint64_t now_ns,
                DropHandler report);

}  // namespace hmn
