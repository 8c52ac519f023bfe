// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"
#include "model/failure.hpp"

namespace hmn {

// HMN_COLLECT_* of the C interface; src/api asserts it.
namespace subject {
inline constexpr std::uint32_t memory = 1U << 0;
inline constexpr std::uint32_t system = 1U << 1;
inline constexpr std::uint32_t devices = 1U << 2;
inline constexpr std::uint32_t pools = 1U << 3;
inline constexpr std::uint32_t self = 1U << 4;
inline constexpr std::uint32_t processes = 1U << 5;
inline constexpr std::uint32_t telemetry = 1U << 6;
inline constexpr std::uint32_t metrics = 1U << 7;
inline constexpr std::uint32_t all = (1U << 8) - 1;
}  // namespace subject

// Why something is missing.
struct diagnostic {
  failure why;
  std::uint32_t notes = 0;
  std::uint32_t about = 0;  // one bit of `subject`
  std::uint32_t field = 0;  // presence bits that are missing because of it, for metrics the
                            // metric_id; 0: all
  std::optional<slot> device;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint64_t> duration_ns;
  std::uint32_t unreadable_processes = 0;  // that the source could not look into
};

}  // namespace hmn
