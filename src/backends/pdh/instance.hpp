// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Instance names of Windows' GPU counters:
//   GPU Adapter Memory  luid_0x00000000_0x0000D3F5_phys_0
//   GPU Process Memory  pid_1234_luid_0x00000000_0x0000D3F5_phys_0
//   GPU Engine          pid_1234_luid_0x00000000_0x0000D3F5_phys_0_eng_0_engtype_3D
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/shared/wddm/counters.hpp"

namespace hmn::pdh {

struct Instance {
  std::optional<std::uint32_t> pid;
  wddm::Luid adapter = 0;
  std::uint32_t physical = 0;
  std::optional<std::uint32_t> engine;
  std::uint32_t engine_kind = 0;  // metric_instance::engine
  std::uint64_t ordinal = 0;      // distinguishes equal names

  friend auto operator<=>(const Instance&, const Instance&) = default;
};

// Pure. Returns nothing for other names.
std::optional<Instance> parse_instance(std::string_view name) noexcept;

// Returns metric_instance::engine for a driver's name: "3D", "VideoDecode", "Compute_0".
std::uint32_t find_engine_kind(std::string_view type) noexcept;

}  // namespace hmn::pdh
