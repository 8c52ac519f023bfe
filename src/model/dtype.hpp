// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Data types of stored numbers: HMN_DTYPE_* of the C interface.
#pragma once

#include <cstdint>
#include <string_view>

namespace hmn {

// Returns 0 for an unknown dtype.
std::uint32_t dtype_bits(std::uint32_t dtype) noexcept;
const char* dtype_name(std::uint32_t dtype) noexcept;
// Finds a dtype by its name in candle, torch, safetensors, numpy or C; 0 if unknown.
std::uint32_t find_dtype(std::string_view name) noexcept;

}  // namespace hmn
