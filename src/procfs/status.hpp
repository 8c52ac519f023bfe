// SPDX-License-Identifier: MIT OR Apache-2.0
//
// /proc/<pid>/status and smaps_rollup, whose lines look alike.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "procfs/amount.hpp"

namespace hmn::procfs {

// The memory lines of status. A process without memory has none of them.
struct status_memory {
  amount vm_rss;
  amount vm_hwm;
  amount vm_size;
  amount vm_swap;
};

status_memory parse_status(std::string_view text) noexcept;

// NSpid: the pid in each PID namespace that the process is in, from that of the proc tree inwards.
// Linux 4.1; empty: no such line.
std::vector<std::uint32_t> parse_namespace_pids(std::string_view status);

// CapEff: a bit for each effective capability, include/uapi/linux/capability.h; 0: no such line.
std::uint64_t parse_effective_capabilities(std::string_view status) noexcept;

// What is used of smaps_rollup (Linux 4.14).
struct smaps_rollup {
  amount pss;
  amount private_clean;
  amount private_dirty;

  // Without Private_Hugetlb: Rss and Pss leave huge pages of hugetlbfs out as well, so that
  // unique <= Pss <= Rss.
  [[nodiscard]] amount unique() const noexcept;
};

smaps_rollup parse_smaps_rollup(std::string_view text) noexcept;

}  // namespace hmn::procfs
