// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AMD's compute driver (KFD) as the driver of the same cards sees it: which of its GPUs is which
// card or partition, and what compute processes use.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/drm/driver.hpp"

namespace hmn::drm {

// A GPU, or a part of one that is split.
struct compute_node {
  std::uint32_t gpu_id = 0;  // KFD's own number, never 0
  std::uint32_t render_minor = 0;
  std::uint32_t domain = 0;
  std::uint32_t location = 0;  // bus, device and function; of a partition its number as well
  std::optional<std::uint64_t> memory;
};

class compute_driver {
 public:
  virtual ~compute_driver() = default;

  [[nodiscard]] virtual source from() const noexcept = 0;
  [[nodiscard]] virtual source_state describe() const = 0;
  // As of now. Wakes nothing.
  virtual std::span<const compute_node> nodes() = 0;
  // Some could not be read, which may pass.
  [[nodiscard]] virtual bool is_in_doubt() const noexcept = 0;
  // What processes use of one GPU: new rows, or figures added to those there are. `pid`: of this
  // process alone; 0: of all. Wakes nothing.
  virtual void add_rows(visit& v, std::uint32_t gpu_id, std::uint32_t pid,
                        std::vector<usage>& rows) = 0;
};

}  // namespace hmn::drm
