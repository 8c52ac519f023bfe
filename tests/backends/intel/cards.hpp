// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Made-up Intel cards and their device nodes (tests/fakes/drm_query).
#pragma once

#include <doctest/doctest.h>
#include <fake_drm.h>

#include <string>

#include "../drm/machine.hpp"

namespace intel_test {

using drm_test::Machine;
using drm_test::PlainReading;

inline constexpr std::uint64_t gib = 1 << 30;

inline constexpr const char* slot_address = "0000:03:00.0";
inline constexpr const char* first_bus_address = "0000:00:02.0";

hmn_fake::PciDevice intel_card(const char* driver, const char* address = slot_address);
// A card of i915 with sensors.
hmn_fake::PciDevice arc_card(const char* address = slot_address);

struct MemoryReading {
  hmn::PoolList pools;
  hmn::Result<void> result;
  PlainReading reading;

  [[nodiscard]] const hmn::Pool* find(hmn::PoolKind kind, std::uint32_t instance = 0) const {
    return pools.find(kind, instance);
  }
};

// Makes a complete reading of card 0: prepare, devices, memory.
MemoryReading read_memory(Machine& machine);

// "region renderD128 1 0 …\n"
std::string region(unsigned memory_class, unsigned instance, std::uint64_t size, std::uint64_t used,
                   std::uint64_t visible, std::uint64_t visible_used);

// Telemetry from a new reading of card 0.
struct TelemetryReading {
  hmn::Telemetry value;
  hmn::Result<void> result;
  PlainReading reading;
};
TelemetryReading read_telemetry(Machine& machine, std::uint64_t fields);

std::vector<hmn::Metric> read_metrics(Machine& machine, PlainReading& reading);
std::vector<hmn::Metric> read_metrics(Machine& machine);
// Empty: there is no such metric.
std::optional<double> find_value(const std::vector<hmn::Metric>& metrics, hmn::MetricId id,
                                 std::uint32_t instance);

inline const std::string one_query_log =
    "open renderD128\nmeasure renderD128\nask renderD128\nclose renderD128\n";

}  // namespace intel_test
