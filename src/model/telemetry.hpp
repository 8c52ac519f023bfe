// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/failure.hpp"

namespace hmn {

namespace throttle {
HMN_THROTTLES(HMN_CONSTANT)
}  // namespace throttle

// Load, temperature and power of a device.
struct telemetry {
  HMN_TELEMETRY_FIELDS(HMN_MEMBER)
};

// Presence bits of requested and of missing fields.
namespace telemetry_field {
HMN_TELEMETRY_FIELDS(HMN_FIELD_BIT)
// TEMPORARY
inline constexpr std::uint32_t gpu_busy = gpu_busy_percent, memory_busy = memory_busy_percent,
                               encoder_busy = encoder_busy_percent,
                               decoder_busy = decoder_busy_percent,
                               temperature = temperature_celsius, hotspot = hotspot_celsius,
                               memory_temperature = memory_celsius, power = power_watts,
                               power_limit = power_limit_watts, energy = energy_joules,
                               core_clock = core_clock_mhz, memory_clock = memory_clock_mhz,
                               pcie_rx = pcie_rx_bytes, pcie_tx = pcie_tx_bytes, window = window_ns;
inline constexpr std::uint32_t all = 0 HMN_TELEMETRY_FIELDS(HMN_OR_BIT);
}  // namespace telemetry_field

}  // namespace hmn
