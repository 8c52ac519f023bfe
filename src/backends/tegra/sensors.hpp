// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "platform/errno_or.hpp"

namespace hmn::tegra {

enum class feeds { nothing_of_it, gpu_alone, gpu_and_others };

// Pure: by the label of a channel of an INA3221, as the boards' device trees write them.
feeds rail_of(std::string_view label) noexcept;

// The rail of the GPU; where it has none of its own, the one that it shares.
struct rail {
  feeds what = feeds::nothing_of_it;
  std::string folder;  // of the sensor
  char channel = '0';
  std::string label;
};

// `is_sure` becomes false where one could not be looked at.
rail find_rail(std::string_view sys_root, bool& is_sure);
// In watts: millivolts by milliamperes.
std::optional<double> read_power(const rail& r);

// The GPU of an NVIDIA SoC: a platform device of the driver nvgpu.
struct gpu {
  std::string folder;   // has `load`; empty: there is none
  std::string devfreq;  // has `cur_freq`; empty: none
  std::string chip;     // its node in the device tree: "ga10b", "gpu"
};

// One whose driver is nouveau is a DRM card, and no business of this source.
gpu find_gpu(std::string_view sys_root);

// The board, by the device tree: "NVIDIA Jetson AGX Orin Developer Kit".
platform::errno_or<std::string> board_name(std::string_view proc_root, std::string_view sys_root);

// "suspending" counts: a reading would call it back.
bool is_suspended(const gpu& g);

// Where a GPU's figures are.
struct places {
  const gpu& of;
  const rail& power;
  const std::string& thermometer;
  bool is_sure;  // all places were looked at
};

// The thermal zone of the GPU; empty: none.
std::string find_thermometer(std::string_view sys_root, bool& is_sure);

result<void> read_sensors(const places& at, std::uint32_t fields, hmn::telemetry& out, reading& r);
// The highest clock, and the power of a rail that feeds others too.
void add_metrics(const places& at, std::vector<metric>& out, reading& r);

}  // namespace hmn::tegra
