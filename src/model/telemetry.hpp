// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/failure.hpp"

namespace hmn {

// Bits of the C interface; src/api asserts it.
namespace throttle {
inline constexpr std::uint32_t idle = 1U << 0;
inline constexpr std::uint32_t power = 1U << 1;
inline constexpr std::uint32_t thermal = 1U << 2;
inline constexpr std::uint32_t hardware = 1U << 3;
inline constexpr std::uint32_t setting = 1U << 4;
inline constexpr std::uint32_t other = 1U << 5;
}  // namespace throttle

// Load, temperature and power of a device.
struct telemetry {
  source from = source::none;
  std::uint32_t notes = 0;
  std::uint64_t sources = 0;  // bit n: source n gave at least one field
  std::optional<double> gpu_busy_percent;
  std::optional<double> memory_busy_percent;
  std::optional<double> encoder_busy_percent;
  std::optional<double> decoder_busy_percent;
  std::optional<double> temperature_celsius;
  std::optional<double> hotspot_celsius;
  std::optional<double> memory_celsius;
  std::optional<double> power_watts;
  std::optional<double> power_limit_watts;
  std::optional<double> energy_joules;
  std::optional<std::uint32_t> core_clock_mhz;
  std::optional<std::uint32_t> memory_clock_mhz;
  std::optional<std::uint32_t> fan_percent;
  std::optional<std::uint32_t> fan_rpm;
  std::optional<std::uint32_t> pcie_generation;
  std::optional<std::uint32_t> pcie_width;
  std::optional<std::uint32_t> p_state;
  std::optional<std::uint32_t> throttle;
  std::optional<std::uint64_t> pcie_rx_bytes;
  std::optional<std::uint64_t> pcie_tx_bytes;
  std::optional<std::uint64_t> window_ns;
};

// What is wanted, and what is missing, field by field: the presence bits of the C interface.
namespace telemetry_field {
inline constexpr std::uint32_t gpu_busy = 1U << 0;
inline constexpr std::uint32_t memory_busy = 1U << 1;
inline constexpr std::uint32_t encoder_busy = 1U << 2;
inline constexpr std::uint32_t decoder_busy = 1U << 3;
inline constexpr std::uint32_t temperature = 1U << 4;
inline constexpr std::uint32_t hotspot = 1U << 5;
inline constexpr std::uint32_t memory_temperature = 1U << 6;
inline constexpr std::uint32_t power = 1U << 7;
inline constexpr std::uint32_t power_limit = 1U << 8;
inline constexpr std::uint32_t energy = 1U << 9;
inline constexpr std::uint32_t core_clock = 1U << 10;
inline constexpr std::uint32_t memory_clock = 1U << 11;
inline constexpr std::uint32_t fan_percent = 1U << 12;
inline constexpr std::uint32_t fan_rpm = 1U << 13;
inline constexpr std::uint32_t pcie_generation = 1U << 14;
inline constexpr std::uint32_t pcie_width = 1U << 15;
inline constexpr std::uint32_t pcie_rx = 1U << 16;
inline constexpr std::uint32_t pcie_tx = 1U << 17;
inline constexpr std::uint32_t throttle = 1U << 18;
inline constexpr std::uint32_t p_state = 1U << 19;
inline constexpr std::uint32_t window = 1U << 20;
inline constexpr std::uint32_t all = (1U << 21) - 1;
}  // namespace telemetry_field

}  // namespace hmn
