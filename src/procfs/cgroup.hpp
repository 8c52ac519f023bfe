// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hmn::procfs {

// Which group of the memory controller a process is in.
struct cgroup_membership {
  enum class version { none, v1, v2 };

  version hierarchy = version::none;
  std::string_view path;  // into the text
};

// /proc/<pid>/cgroup. On a hybrid machine the controller sits in one of the two hierarchies: the v1
// line that names it wins over the v2 line that is always there.
cgroup_membership parse_cgroup_membership(std::string_view text) noexcept;

// The v2 group, also where the memory controller sits in v1.
cgroup_membership parse_v2_membership(std::string_view text) noexcept;

struct cgroup_limit {
  enum class is { malformed, unlimited, known };

  is what = is::malformed;
  std::uint64_t bytes = 0;
};

// memory.max or memory.limit_in_bytes.
cgroup_limit parse_cgroup_limit(std::string_view text) noexcept;

// memory.current or memory.usage_in_bytes.
std::optional<std::uint64_t> parse_cgroup_usage(std::string_view text) noexcept;

// The line hierarchical_memory_limit of a v1 memory.stat: it counts groups above what is mounted.
cgroup_limit parse_cgroup_hierarchical_limit(std::string_view text) noexcept;

}  // namespace hmn::procfs
