// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/intel/dialect.hpp"
#include "platform/errno_or.hpp"

namespace hmn::intel {

// Pure: the throttle bit of a reason as the kernel names it, "pl1", "thermal".
std::uint32_t throttle_bit(std::string_view reason) noexcept;

// What holds the clock of one GT down now.
platform::errno_or<std::uint32_t> read_throttle(const gt& g);

}  // namespace hmn::intel
