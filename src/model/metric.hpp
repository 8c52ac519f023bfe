// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/failure.hpp"

namespace hmn {

// Numbers are those of the C interface; src/api asserts it.
enum class metric_id : std::uint32_t {
  unknown = 0,
  engine_busy_ns = 1,         // count; instance: engine
  engine_percent = 2,         // instance: engine
  engine_capacity = 3,        // how many of the engine there are
  temperature = 20,           // Celsius; instance: sensor
  temperature_limit = 21,     // where the device slows down; instance: sensor
  fan_rpm = 22,               // instance: fan, from 0
  fan_percent = 23,           // instance: fan, from 0
  power_watts = 24,           // instance: power_reading
  energy_joules = 25,         // since the driver was loaded; instance: power_reading
  clock_mhz = 26,             // instance: clock
  clock_limit_mhz = 27,       // highest; instance: clock
  voltage = 28,               // volts; instance: rail
  temperature_shutdown = 29,  // where it switches itself off; instance: sensor
  power_limit_watts = 30,     // instance: power_limit
  ecc_corrected = 40,         // count; instance: era
  ecc_uncorrected = 41,       // count; instance: era
  rows_remapped = 42,         // count; instance: remapping
  last_fault = 43,            // count: the driver's own number of it (NVIDIA: Xid)
  throttle_ns = 44,           // count: time held back; instance: throttle bit
  pcie_rx_bytes = 60,         // count
  pcie_tx_bytes = 61,         // count
  pcie_replays = 62,          // count
  link_rx_bytes = 63,         // count; instance: link, from 0 (NVLink, XGMI)
  link_tx_bytes = 64,         // count; instance: link, from 0
  // Whole counts; instance: a control group of the snapshot, from 1.
  group_vram_bytes = 80,
  group_vram_limit_bytes = 81,
};

// Instances: which one of several. 0 is "of the whole device, or not told".
namespace which {
namespace engine {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t graphics = 1;
inline constexpr std::uint32_t compute = 2;
inline constexpr std::uint32_t copy = 3;
inline constexpr std::uint32_t decode = 4;
inline constexpr std::uint32_t encode = 5;
inline constexpr std::uint32_t video = 6;
inline constexpr std::uint32_t other = 7;
inline constexpr std::uint32_t memory = 8;  // the memory controller
}  // namespace engine
namespace sensor {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t core = 1;  // edge
inline constexpr std::uint32_t hotspot = 2;
inline constexpr std::uint32_t memory = 3;
inline constexpr std::uint32_t package = 4;
inline constexpr std::uint32_t board = 5;
inline constexpr std::uint32_t regulator = 6;
}  // namespace sensor
namespace power_reading {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t average = 1;
inline constexpr std::uint32_t instant = 2;
inline constexpr std::uint32_t package = 3;  // the chip and what is in its package, a CPU too
inline constexpr std::uint32_t memory = 4;
inline constexpr std::uint32_t board = 5;
}  // namespace power_reading
namespace power_limit {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t current = 1;
inline constexpr std::uint32_t usual = 2;  // the maker's default
inline constexpr std::uint32_t lowest = 3;
inline constexpr std::uint32_t highest = 4;
}  // namespace power_limit
namespace clock {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t core = 1;
inline constexpr std::uint32_t memory = 2;
inline constexpr std::uint32_t sm = 3;
inline constexpr std::uint32_t video = 4;
inline constexpr std::uint32_t media = 5;
inline constexpr std::uint32_t soc = 6;
inline constexpr std::uint32_t fabric = 7;
inline constexpr std::uint32_t requested = 8;  // of the core, before limits
}  // namespace clock
namespace rail {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t core = 1;
inline constexpr std::uint32_t soc = 2;
inline constexpr std::uint32_t memory = 3;
inline constexpr std::uint32_t board = 4;
}  // namespace rail
namespace era {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t since_load = 1;  // of the driver
inline constexpr std::uint32_t lifetime = 2;
}  // namespace era
namespace remapping {
inline constexpr std::uint32_t unknown = 0;
inline constexpr std::uint32_t corrected = 1;
inline constexpr std::uint32_t uncorrected = 2;
inline constexpr std::uint32_t pending = 3;  // 1: a reset will remap
inline constexpr std::uint32_t failed = 4;   // 1: one could not be remapped
}  // namespace remapping
}  // namespace which

// One number with its own source. Exactly one of value and count is there.
struct metric {
  metric_id id = metric_id::unknown;
  std::uint32_t instance = 0;
  source from = source::none;
  std::uint32_t notes = 0;
  std::optional<std::uint32_t> pid;        // of this process, not of the device
  std::optional<double> value;             // a reading
  std::optional<std::uint64_t> count;      // ever growing, or whole by nature
  std::optional<std::uint64_t> window_ns;  // what the value averages over
};

// Whether both say the same of the same thing.
constexpr bool is_same_number(const metric& a, const metric& b) {
  return a.id == b.id && a.instance == b.instance && a.pid == b.pid;
}

constexpr metric measured(source from, metric_id id, std::uint32_t instance, double value) {
  metric m;
  m.from = from;
  m.id = id;
  m.instance = instance;
  m.value = value;
  return m;
}

constexpr metric counted(source from, metric_id id, std::uint32_t instance, std::uint64_t count) {
  metric m;
  m.from = from;
  m.id = id;
  m.instance = instance;
  m.count = count;
  return m;
}

}  // namespace hmn
