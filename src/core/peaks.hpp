// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/snapshot.hpp"

namespace hmn {

// Peak values of a device, or of one process on it, each independent of the others.
struct peak {
  std::uint32_t device_index = 0;
  std::uint32_t pid = 0;  // 0: the device
  source from = source::none;
  std::uint32_t notes = 0;
  hmn::accounting accounting = hmn::accounting::none;
  std::optional<std::uint64_t> start_unix_ns;
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> host_pool;
  std::optional<std::uint64_t> host_resident;
  std::uint64_t used_monotonic_ns = 0;
  std::uint64_t seen_monotonic_ns = 0;
};

class peaks {
 public:
  // Limit above which peaks of ended processes are dropped.
  static constexpr std::size_t most = 65536;

  void observe(const snapshot& from);
  // Returns the device's peak for pid 0; nullptr if it was never seen.
  [[nodiscard]] const peak* find(std::uint32_t device_index, std::uint32_t pid) const noexcept;

 private:
  [[nodiscard]] peak& entry_of(std::uint32_t device_index, std::uint32_t pid);
  void observe_pool(const pool& p, std::uint64_t now);
  void observe_usage(const usage& row, std::uint64_t now);

  std::vector<peak> entries_;  // by device, then pid
};

}  // namespace hmn
