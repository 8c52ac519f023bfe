// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The clock event reasons of NVIDIA's driver, which NVML and nvidia-smi report alike.
#pragma once

#include <cstdint>
#include <optional>

#include "model/telemetry.hpp"

namespace hmn::nvidia {

// Returns the `throttle` bits for nvmlClocksEventReasons; a reason that is not known is `other`.
// Returns none if all known reasons are set at once: an idle GPU is not slowed down.
inline std::optional<std::uint32_t> convert_throttle(std::uint64_t reasons) noexcept {
  constexpr struct {
    std::uint64_t reason;
    std::uint32_t bits;
  } table[] = {
      {0x001, throttle::idle},
      {0x002, throttle::setting},   // applications' clocks
      {0x004, throttle::power},     // software power cap
      {0x008, throttle::hardware},  // hardware slowdown
      {0x010, throttle::setting},   // sync boost
      {0x020, throttle::thermal},   // software
      {0x040, throttle::thermal | throttle::hardware},
      {0x080, throttle::power | throttle::hardware},  // power brake
      {0x100, throttle::setting},                     // display clocks
  };
  constexpr std::uint64_t all_known_reasons = 0x1ff;
  if ((reasons & all_known_reasons) == all_known_reasons) return std::nullopt;
  std::uint32_t bits = 0;
  for (const auto& row : table) {
    if ((reasons & row.reason) != 0) bits |= row.bits;
    reasons &= ~row.reason;
  }
  return reasons == 0 ? bits : bits | throttle::other;
}

}  // namespace hmn::nvidia
