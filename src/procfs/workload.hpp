// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::procfs {

// Container of a process, from the names of its control groups.
struct Container {
  std::string_view runtime;  // "docker"; "kubernetes" or "container" if the path does not name one
  std::string_view id;       // 64 hex digits or a machine's name, as the path spells it

  [[nodiscard]] bool empty() const noexcept { return id.empty(); }
};

// Finds the innermost container in /proc/<pid>/cgroup, v1 or v2. Excludes processes that only watch
// one (conmon, an LXC monitor) and the emulators of virtual machines.
Container parse_container(std::string_view text) noexcept;

// Finds the container in the path of one group.
Container find_container(std::string_view path) noexcept;

// Appends "docker:1c8f…", with a unit name's \x2d decoded.
void append_container(std::string& out, const Container& container);

// The workload that a process belongs to, from the names of its control groups. All texts are valid
// UTF-8; "": unknown.
struct Workload {
  std::string container;  // id: 64 hex digits, or a machine's name
  std::string runtime;    // of the container, as in Container::runtime
  std::string pod;        // uid of a Kubernetes pod, with hyphens
  std::string job;        // number of a Slurm job, or its SLUID
  std::string unit;       // innermost unit of systemd: a service or a scope
};

// Parses /proc/<pid>/cgroup, v1 or v2. In v1 each controller has a line with a path; the first that
// names something counts.
Workload parse_workload(std::string_view text);

}  // namespace hmn::procfs
