// SPDX-License-Identifier: MIT OR Apache-2.0
//
// pp_dpm_sclk, pp_dpm_mclk and alike: "1: 900Mhz *", the star at the level in use. "S: 19Mhz *" is
// a deep sleep of the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hmn::amdgpu {

struct clock_levels {
  std::optional<std::uint32_t> current_mhz;  // absent: no star, or more than one
  std::optional<std::uint32_t> highest_mhz;
};

// Pure. Lines of another form are left out.
clock_levels parse_clock_levels(std::string_view text) noexcept;

// Of <folder>/<file>; nothing where it is not there.
clock_levels read_clock_levels(std::string_view folder, std::string_view file) noexcept;

}  // namespace hmn::amdgpu
