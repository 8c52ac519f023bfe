// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hmn::procfs {

// One line of /proc/<pid>/mountinfo, proc(5); its texts are still escaped.
struct mount {
  std::string_view root;
  std::string_view point;
  std::string_view type;
  std::string_view super_options;

  [[nodiscard]] bool is_cgroup_v2() const noexcept { return type == "cgroup2"; }
  [[nodiscard]] bool is_cgroup_v1_memory() const noexcept;
};

std::optional<mount> parse_mount(std::string_view line) noexcept;

// \040 is a blank; likewise tab, line end, backslash and '#'.
std::string unescape_mount(std::string_view text);

// Where the whole of version 2 is mounted, in a mountinfo file.
std::optional<std::string> find_cgroup_v2_mount(std::string_view text);

// Where the group `path` stands below a mount of `root`: empty for the root itself, else "/a/b".
// None when this mount does not show the group.
std::optional<std::string_view> below_mount(std::string_view root, std::string_view path) noexcept;

}  // namespace hmn::procfs
