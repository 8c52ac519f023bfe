// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hmn::procfs {

// Line of /proc/<pid>/mountinfo, proc(5), with its texts still escaped.
struct mount {
  std::string_view root;
  std::string_view point;
  std::string_view type;
  std::string_view super_options;

  [[nodiscard]] bool is_cgroup_v2() const noexcept { return type == "cgroup2"; }
  [[nodiscard]] bool is_cgroup_v1_memory() const noexcept;
};

std::optional<mount> parse_mount(std::string_view line) noexcept;

// Decodes \040 to a blank, and likewise tab, line end, backslash and '#'.
std::string unescape_mount(std::string_view text);

// Finds the mount point of the whole version 2 hierarchy in a mountinfo file.
std::optional<std::string> find_cgroup_v2_mount(std::string_view text);

// Returns the location of the group `path` below a mount of `root`: empty for the root itself, else
// "/a/b". Returns none when the mount does not include the group.
std::optional<std::string_view> below_mount(std::string_view root, std::string_view path) noexcept;

}  // namespace hmn::procfs
