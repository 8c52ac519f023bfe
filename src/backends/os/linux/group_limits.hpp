// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/file.hpp"
#include "platform/mutex.hpp"
#include "procfs/cgroup.hpp"

namespace hmn::os {

struct MemoryLimit {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> left;  // of the group that has the least left, not the lowest limit
  bool is_partial = false;            // a group, its limit or its use was unreadable
};

// The tightest memory limit of the caller's control groups. The groups are remembered with their
// files open; each reading checks whether the caller has moved or a mount has changed, and reads
// every limit.
class GroupLimits {
 public:
  // `cgroup_root`: mount point of cgroupfs; empty: from <root>/self/mountinfo.
  GroupLimits(const std::string& proc_root, const std::string& cgroup_root);
  MemoryLimit read();

 private:
  struct GroupUsage {
    std::optional<std::uint64_t> charged;
    std::uint64_t unreclaimable = 0;  // charged, less the file cache that the kernel gives back
  };
  struct Level {
    Level(std::string_view folder, bool is_v1);
    platform::CachedFile limit;
    platform::CachedFile usage;
    platform::CachedFile stat;
  };

  MemoryLimit find_limit();
  [[nodiscard]] bool has_no_groups() const;
  bool open_levels(const procfs::CgroupMembership& membership);
  MemoryLimit read_levels();
  GroupUsage read_usage(Level& level, MemoryLimit& result) const;
  void read_limit_above(MemoryLimit& result);

  const std::string proc_root_;
  const std::string cgroup_root_;
  platform::Mutex mutex_;
  platform::CachedFile membership_;
  platform::CachedFile mounts_;
  std::string cached_membership_;  // membership that the levels belong to
  std::list<Level> levels_;        // innermost first
  procfs::CgroupMembership::Version hierarchy_{};
  bool reaches_root_ = false;  // no group is above the levels
  bool is_malformed_ = false;  // the membership file; its other lines were used
};

// Appends the folders of the caller's v2 groups, innermost first, up to the mount.
void find_own_groups(const std::string& proc_root, const std::string& cgroup_root,
                     std::vector<std::string>& folders);

}  // namespace hmn::os
