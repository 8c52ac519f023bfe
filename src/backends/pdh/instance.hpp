// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The names of the instances of Windows' GPU counters:
//   GPU Adapter Memory  luid_0x00000000_0x0000D3F5_phys_0
//   GPU Process Memory  pid_1234_luid_0x00000000_0x0000D3F5_phys_0
//   GPU Engine          pid_1234_luid_0x00000000_0x0000D3F5_phys_0_eng_0_engtype_3D
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/wddm/counters.hpp"

namespace hmn::pdh {

struct instance {
  std::optional<std::uint32_t> pid;
  wddm::luid adapter = 0;
  std::uint32_t physical = 0;
  std::optional<std::uint32_t> engine;
  std::uint32_t engine_kind = 0;  // which::engine
};

// Pure. Nothing: no such name. An ordinal behind it, which tells alike ones apart, is passed
// over.
std::optional<instance> parse_instance(std::string_view name) noexcept;

// which::engine of what a driver calls it: "3D", "VideoDecode", "Compute_0".
std::uint32_t kind_of_engine(std::string_view type) noexcept;

}  // namespace hmn::pdh
