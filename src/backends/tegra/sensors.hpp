// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "backends/tegra/gpu.hpp"
#include "backends/tegra/rails.hpp"

namespace hmn::tegra {

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
