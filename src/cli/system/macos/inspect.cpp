// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/inspect.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace hmn::cli {
namespace {

// Explains that proc_pid_rusage and task_info are limited to the user's own processes.
Section inspect_permissions() {
  Section out{"Permissions", {}};
  if (geteuid() == 0)
    out.findings.push_back(fine("runs as root"));
  else
    out.findings.push_back(
        note(fmt::format("runs as user id {}: the memory of other users' processes is not readable",
                         geteuid()),
             Problem::not_permitted, Site::host));
  return out;
}

}  // namespace

std::vector<Section> inspect_machine(const MachineEvidence& seen) {
  return {seen.sources, inspect_permissions()};
}

Site own_site() {
  return Site::host;
}

// Returns none: the library lists every GPU of IOKit.
std::string unmeasured_gpus() {
  return {};
}

// Returns none: Metal names each device.
std::string kernel_driver(const hypomnesis::device&) {
  return {};
}

std::string_view why_drivers_are_slow() {
  return {};
}

}  // namespace hmn::cli
