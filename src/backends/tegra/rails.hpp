// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace hmn::tegra
