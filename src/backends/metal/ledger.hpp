// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/mach/kernel.hpp"
#include "model/failure.hpp"

namespace hmn::metal {

// The kernel's ledger of each task: memory that it counts as graphics and as the task's own.
class graphics_ledger {
 public:
  explicit graphics_ledger(const mach::kernel& k) : k_(k) {}

  // 0 is what the kernel counts.
  result<std::uint64_t> used_by(std::uint32_t pid);
  // Of all users.
  [[nodiscard]] result<std::vector<int>> processes() const;

 private:
  // The place of the entry, found by its name.
  result<std::size_t> find_place();

  const mach::kernel& k_;
  std::optional<std::size_t> place_;
};

}  // namespace hmn::metal
