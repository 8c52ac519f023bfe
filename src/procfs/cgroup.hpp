// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::procfs {

// A process's group of the memory controller.
struct CgroupMembership {
  enum class Version { none, v1, v2 };

  Version version = Version::none;
  std::string_view path;      // into the text
  bool is_malformed = false;  // a line was not understood, which may name another group
};

// Parses /proc/<pid>/cgroup. On a hybrid machine the controller is in one of the two hierarchies: a
// v1 line that names it takes precedence over the v2 line, which is always present.
CgroupMembership parse_cgroup_membership(std::string_view text) noexcept;

// Parses the v2 group, even where the memory controller is in v1.
CgroupMembership parse_v2_membership(std::string_view text) noexcept;

struct CgroupLimit {
  enum class State { malformed, unlimited, limited };

  State state = State::malformed;
  std::uint64_t bytes = 0;
};

// Parses memory.max or memory.limit_in_bytes.
CgroupLimit parse_cgroup_limit(std::string_view text) noexcept;

// Parses memory.current or memory.usage_in_bytes.
std::optional<std::uint64_t> parse_cgroup_usage(std::string_view text) noexcept;

// Parses cgroup.procs: pids; 0: a process of another PID namespace.
std::vector<std::uint32_t> parse_group_pids(std::string_view text);

// Line of a dmem file, such as "drm/0000:03:00.0/vram0 8514437120".
struct DmemLine {
  std::string_view device;
  std::string_view region;
  std::string_view value;  // a number of bytes, or "max"
};
// Returns none for a line of a subsystem other than DRM.
std::optional<DmemLine> split_dmem_line(std::string_view line) noexcept;

// Video memory of a device in dmem.peak, the sum of its regions.
struct VideoMemory {
  std::optional<std::uint64_t> bytes;  // none: no region, or a malformed one
  unsigned regions = 0;
};
VideoMemory parse_video_memory(std::string_view text, std::string_view pci_bus_id) noexcept;

// Parses nr_descendants of cgroup.stat: the number of groups below a group.
std::optional<std::uint64_t> parse_descendants(std::string_view text) noexcept;

// Parses hierarchical_memory_limit of a v1 memory.stat, which includes groups above the mount.
CgroupLimit parse_cgroup_hierarchical_limit(std::string_view text) noexcept;

// Parses memory.stat: the part of the usage that is file cache which the kernel gives back before
// an allocation fails. That is the inactive list, as in kubelet's working set, and the part of the
// active list that no process has mapped: a running program would have to read its code and its
// mapped models again. Dirty pages do not count, since they must be written first. Shared memory
// and locked pages are on neither list. 0 if a counter is missing or malformed.
std::uint64_t parse_cgroup_reclaimable_cache(std::string_view text,
                                      CgroupMembership::Version version) noexcept;

// Line of /proc/<pid>/mountinfo, proc(5), with its texts still escaped.
struct Mount {
  std::string_view root;
  std::string_view point;
  std::string_view type;
  std::string_view super_options;

  [[nodiscard]] bool is_cgroup_v2() const noexcept { return type == "cgroup2"; }
  [[nodiscard]] bool is_cgroup_v1_memory() const noexcept;
};

std::optional<Mount> parse_mount(std::string_view line) noexcept;

// Decodes \040 to a blank, and likewise tab, newline, backslash and '#'.
std::string unescape_mount(std::string_view text);

// Finds the mount point of the whole version 2 hierarchy in a mountinfo file.
std::optional<std::string> find_cgroup_v2_mount(std::string_view text);

// Returns the location of the group `path` below a mount of `root`: empty for the root itself, else
// "/a/b". Returns none if the mount does not include the group.
std::optional<std::string_view> locate_below_mount(std::string_view root,
                                                   std::string_view path) noexcept;

}  // namespace hmn::procfs
