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
  struct Use {
    std::optional<std::uint64_t> charged;
    std::uint64_t held = 0;  // less the file cache that the kernel gives back
  };
  struct Level {
    Level(std::string_view folder, bool is_v1);
    platform::KeptFile limit;
    platform::KeptFile usage;
    platform::KeptFile stat;
  };

  MemoryLimit find();
  [[nodiscard]] bool has_no_groups() const;
  bool open_levels(const procfs::CgroupMembership& own);
  MemoryLimit look();
  Use use_of(Level& at, MemoryLimit& found) const;
  void look_above(MemoryLimit& found);

  const std::string proc_root_;
  const std::string cgroup_root_;
  platform::Mutex mutex_;
  platform::KeptFile membership_;
  platform::KeptFile mounts_;
  std::string known_;        // membership that the levels belong to
  std::list<Level> levels_;  // innermost first
  procfs::CgroupMembership::Version hierarchy_{};
  bool is_all_ = false;        // no group is above the levels
  bool is_malformed_ = false;  // the membership, whose other lines were used
};

// Folders of the caller's v2 groups, innermost first, up to the mount.
void find_own_groups(const std::string& proc_root, const std::string& cgroup_root,
                     std::vector<std::string>& out);

}  // namespace hmn::os
