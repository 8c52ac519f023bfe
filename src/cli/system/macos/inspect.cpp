// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/inspect.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/system/waiting_notice.hpp"

namespace hmn::cli {
namespace {

// proc_pid_rusage and task_info tell an ordinary user of his own processes alone.
section inspect_permissions() {
  section out{"Permissions", {}};
  if (geteuid() == 0)
    out.findings.push_back(fine("runs as root"));
  else
    out.findings.push_back({severity::note,
                            fmt::format("runs as user id {}: the memory of other users' processes "
                                        "is not told",
                                        geteuid()),
                            "run as root to see it"});
  return out;
}

}  // namespace

std::vector<section> inspect_machine(const machine_evidence& seen) {
  return {seen.sources, inspect_permissions()};
}

// What IOKit lists, the library lists.
std::string unmeasured_gpus() {
  return {};
}

// Metal names each device.
std::string kernel_driver(const hypomnesis::device&) {
  return {};
}

constinit const std::string_view still_waiting = "hmn: still waiting for a driver\n";

}  // namespace hmn::cli
