// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a GPU's driver counts: the PerformanceStatistics of its entry in the registry.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/metal/values.hpp"

namespace hmn::metal {

struct statistics {
  bool is_told = false;  // there is such a table
  std::optional<double> busy_percent;
  std::optional<double> renderer_percent;
  std::optional<double> tiler_percent;
  std::optional<std::uint64_t> in_use;     // of the machine's memory
  std::optional<std::uint64_t> allocated;  // likewise
  std::optional<std::uint64_t> vram_used;
  std::optional<std::uint64_t> vram_free;
};

statistics read_statistics(const core_foundation& core, cf table);

}  // namespace hmn::metal
