// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>

namespace hmn {

// Bits of the C interface's `notes`; src/api asserts it.
namespace note {
inline constexpr std::uint32_t stale = 1U << 0;
inline constexpr std::uint32_t lower_bound = 1U << 1;
inline constexpr std::uint32_t estimated = 1U << 2;
inline constexpr std::uint32_t truncated = 1U << 3;
inline constexpr std::uint32_t mixed = 1U << 4;
inline constexpr std::uint32_t foreign_pid = 1U << 5;
inline constexpr std::uint32_t partial = 1U << 6;
inline constexpr std::uint32_t trace = 1U << 7;
}  // namespace note

enum class accounting : std::uint32_t { none = 0, resident = 1, committed = 2, allocated = 3 };

}  // namespace hmn
