// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/failure.hpp"
#include "model/host_memory.hpp"

namespace hmn::os {

struct memory_limit {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> used;
  bool is_partial = false;  // a group or its limit was unreadable
};

// Tightest memory limit of the caller's control groups. `cgroup_root`: mount point of cgroupfs;
// empty: from <root>/self/mountinfo.
memory_limit find_memory_limit(const std::string& proc_root, const std::string& cgroup_root);

// Folders of the caller's v2 groups, innermost first, up to the mount.
void find_own_groups(const std::string& proc_root, const std::string& cgroup_root,
                     std::vector<std::string>& out);

result<void> read_system_memory(const std::string& proc_root, const std::string& cgroup_root,
                                system_memory& out);

}  // namespace hmn::os
