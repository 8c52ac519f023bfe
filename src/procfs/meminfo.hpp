// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "procfs/amount.hpp"

namespace hmn::procfs {

// Lines in use of /proc/meminfo.
struct meminfo {
  amount total;
  amount available;  // Linux 3.14
  amount swap_total;
  amount swap_free;
  amount commit_limit;
  amount committed;
  // For an estimate, only where `available` is missing.
  amount free;
  amount active_file;
  amount inactive_file;
  amount reclaimable_slab;

  // Computes the kernel's own estimate (commit 34e431b0ae39) for kernels that do not print it.
  // `low_watermark`: bytes that the kernel keeps free.
  [[nodiscard]] std::optional<std::uint64_t> estimate_available(
      std::uint64_t low_watermark) const noexcept;
};

meminfo parse_meminfo(std::string_view text) noexcept;

// Parses the percentage of the last 10 s in which at least one task waited for memory: "avg10" of
// the line "some" of /proc/pressure/memory (Linux 4.20, Documentation/accounting/psi.rst).
std::optional<double> parse_stall(std::string_view text) noexcept;

// Parses /proc/spl/kstat/zfs/arcstats: what ZFS' cache, which no line of meminfo counts as free,
// holds beyond the least that it keeps. Nothing without the two lines.
std::optional<std::uint64_t> parse_zfs_cache(std::string_view text) noexcept;

}  // namespace hmn::procfs
