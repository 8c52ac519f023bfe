// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::procfs {

// What the names of a process' control groups reveal of the work that it is a part of. All texts
// are valid UTF-8; "": not known.
struct workload {
  std::string container;  // id: 64 hex digits, or a machine's name
  std::string runtime;    // of the container, as procfs/container.hpp names it
  std::string pod;        // uid of a Kubernetes pod, with hyphens
  std::string job;        // number of a Slurm job, or its SLUID
  std::string unit;       // innermost unit of systemd: a service or a scope
};

// Reads /proc/<pid>/cgroup, v1 or v2. Of the lines of v1, which have a path for each controller,
// the first that names something counts.
workload parse_workload(std::string_view text);

}  // namespace hmn::procfs
