// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"
#include "model/failure.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"

namespace hmn {

namespace subject {
HMN_SUBJECTS(HMN_CONSTANT)
inline constexpr std::uint32_t all = HMN_COLLECT_GROUPS * 2 - 1;
}  // namespace subject

// Why something is missing, and on which device or of which process.
struct Diagnostic {
  Failure failure;
  std::uint32_t notes = 0;
  std::uint32_t subject = 0;  // one bit of `subject`
  FieldSet field = 0;  // presence bits of the missing fields; for metrics, missing_metric(); 0: all
  std::optional<Slot> device;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint64_t> duration_ns;
  std::uint32_t unreadable_processes = 0;  // that the source may not inspect
  std::optional<PoolKey> pool = {};

  bool operator==(const Diagnostic&) const = default;
};

}  // namespace hmn
