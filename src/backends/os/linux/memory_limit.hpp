// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hmn::os {

struct memory_limit {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> used;
  bool is_partial = false;  // a group or its limit could not be read
};

// The tightest memory limit of the caller's control groups. `cgroup_root`: where cgroupfs is
// mounted; empty: found in <root>/self/mountinfo.
memory_limit find_memory_limit(const std::string& proc_root, const std::string& cgroup_root);

}  // namespace hmn::os
