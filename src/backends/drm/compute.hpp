// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Interface of AMD's compute driver (KFD) to the driver of the same cards: which of its GPUs is
// which card or partition, and usage of compute processes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/drm/driver.hpp"

namespace hmn::drm {

// GPU, or a partition of one.
struct compute_node {
  std::uint32_t gpu_id = 0;  // KFD's id, never 0
  std::uint32_t render_minor = 0;
  std::uint32_t domain = 0;
  std::uint32_t location = 0;    // bus, device and function; for a partition also its number
  std::uint32_t gfx_target = 0;  // 10000 * major + 100 * minor + stepping; 0: unknown
  std::optional<std::uint64_t> memory;
};

class compute_driver {
 public:
  virtual ~compute_driver() = default;

  [[nodiscard]] virtual source from() const noexcept = 0;
  [[nodiscard]] virtual source_state describe() const = 0;
  // Current list. Wakes nothing.
  virtual std::span<const compute_node> nodes() = 0;
  // Whether some could not be read, which may be temporary.
  [[nodiscard]] virtual bool is_in_doubt() const noexcept = 0;
  // Adds usage of one GPU to `rows`: new rows, or values of existing ones. `pid`: this process
  // only; 0: all. Fails where some could not be read. Wakes nothing.
  virtual result<void> add_rows(visit& v, std::uint32_t gpu_id, std::uint32_t pid,
                                std::vector<usage>& rows) = 0;
};

}  // namespace hmn::drm
