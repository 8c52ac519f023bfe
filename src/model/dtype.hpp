// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What numbers are stored as: HMN_DTYPE_* of the C interface.
#pragma once

#include <cstdint>
#include <string_view>

namespace hmn {

// 0: no such dtype.
std::uint32_t bits_of_dtype(std::uint32_t dtype) noexcept;
const char* name_of_dtype(std::uint32_t dtype) noexcept;
// The dtype that candle, torch, safetensors, numpy or C call so; 0: none.
std::uint32_t dtype_called(std::string_view name) noexcept;

}  // namespace hmn
