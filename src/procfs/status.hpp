// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parsers of /proc/<pid>/status and smaps_rollup, whose lines have the same form.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "procfs/amount.hpp"

namespace hmn::procfs {

// Memory lines of status. A process without memory has none.
struct status_memory {
  amount vm_rss;
  amount vm_hwm;
  amount vm_size;
  amount vm_swap;
};

status_memory parse_status(std::string_view text) noexcept;

// Parses NSpid: the process's pid in each of its PID namespaces, from that of the proc tree
// inwards. Linux 4.1; empty: no such line.
std::vector<std::uint32_t> parse_namespace_pids(std::string_view status);

// Parses CapEff: a bit for each effective capability, include/uapi/linux/capability.h; 0: no such
// line.
std::uint64_t parse_effective_capabilities(std::string_view status) noexcept;

// Lines in use of smaps_rollup (Linux 4.14).
struct smaps_rollup {
  amount pss;
  amount private_clean;
  amount private_dirty;

  // Returns memory of this process alone, without Private_Hugetlb: Rss and Pss exclude huge pages
  // of hugetlbfs as well, so that unique <= Pss <= Rss.
  [[nodiscard]] amount unique() const noexcept;
};

smaps_rollup parse_smaps_rollup(std::string_view text) noexcept;

}  // namespace hmn::procfs
