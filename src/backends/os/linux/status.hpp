// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

#include "backends/os/linux/kilobytes.hpp"

namespace hmn::os {

// The memory lines of /proc/<pid>/status. A process without memory has none of them.
struct status_memory {
  amount vm_rss;
  amount vm_hwm;
  amount vm_size;
  amount vm_swap;
};

status_memory parse_status(std::string_view text) noexcept;

}  // namespace hmn::os
