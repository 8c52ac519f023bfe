// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

namespace hmn {

// Mixes all bits of a number into each bit (the finalizer of SplitMix64).
constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Returns the key of a process: the same for each reader, another for each process. `start` is in
// the system's unit, since `boot` where it does not identify the boot itself.
constexpr std::uint64_t make_process_key(std::uint64_t boot, std::uint64_t start,
                                         std::uint32_t pid) noexcept {
  return mix_bits(mix_bits(boot + start) + pid);
}

}  // namespace hmn
