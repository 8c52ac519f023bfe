// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::procfs {

// The container that a process is in, by the names of its control groups.
struct container {
  std::string_view runtime;  // "docker"; "kubernetes", "container": one that the path does not name
  std::string_view id;       // 64 hex digits or a machine's name, as the path spells it

  [[nodiscard]] bool empty() const noexcept { return id.empty(); }
};

// /proc/<pid>/cgroup, v1 and v2. The innermost container; what only watches one (conmon, an LXC
// monitor) is not in it, nor is a virtual machine's emulator.
container parse_container(std::string_view text) noexcept;

// The same of one group's path.
container container_of(std::string_view path) noexcept;

// "docker:1c8f…", a unit name's \x2d written out.
void append_container(std::string& out, const container& in);

}  // namespace hmn::procfs
