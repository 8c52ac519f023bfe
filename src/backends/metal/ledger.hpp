// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/mach/kernel.hpp"
#include "model/failure.hpp"

namespace hmn::metal {

// Kernel ledger of each task: memory counted as graphics and as owned by the task.
class graphics_ledger {
 public:
  explicit graphics_ledger(const mach::kernel& k) : k_(k) {}

  // 0 is a count by the kernel, not a missing value.
  result<std::uint64_t> used_by(std::uint32_t pid);
  // Processes of all users.
  [[nodiscard]] result<std::vector<int>> processes() const;

 private:
  // Finds the index of the entry by name.
  result<std::size_t> find_place();

  const mach::kernel& k_;
  std::optional<std::size_t> place_;
};

}  // namespace hmn::metal
