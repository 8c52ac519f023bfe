// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

#include "backends/os/linux/kilobytes.hpp"

namespace hmn::os {

// What is used of /proc/<pid>/smaps_rollup (Linux 4.14).
struct smaps_rollup {
  amount pss;
  amount private_clean;
  amount private_dirty;

  // Without Private_Hugetlb: Rss and Pss leave huge pages of hugetlbfs out as well, so that
  // unique <= Pss <= Rss.
  [[nodiscard]] amount unique() const noexcept;
};

smaps_rollup parse_smaps_rollup(std::string_view text) noexcept;

}  // namespace hmn::os
