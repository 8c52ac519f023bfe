// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/inspect.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace hmn::cli {
namespace {

// Explains that proc_pid_rusage and task_info are limited to the user's own processes.
Section inspect_permissions() {
  Section section{"Permissions", {}};
  if (geteuid() == 0)
    section.findings.push_back(make_fine("runs as root"));
  else
    section.findings.push_back(
        make_note(fmt::format("runs as user id {}: the memory of other users' processes is not readable",
                         geteuid()),
             Problem::not_permitted, Site::host));
  return section;
}

}  // namespace

std::vector<Section> inspect_machine(const MachineEvidence& evidence) {
  return {evidence.sources, inspect_permissions()};
}

Site detect_site() {
  return Site::host;
}

// Returns none: the library lists every GPU of IOKit.
std::string list_unmeasured_gpus() {
  return {};
}

// Returns none: Metal names each device.
std::string find_kernel_driver(const hypomnesis::device&) {
  return {};
}

std::string_view explain_slow_drivers() {
  return {};
}

}  // namespace hmn::cli
