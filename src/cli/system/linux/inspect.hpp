// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <hypomnesis.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/system/environment.hpp"
#include "cli/system/inspect.hpp"

namespace hmn::cli {

// Display or compute adapter on the PCI bus.
struct Adapter {
  std::string address;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::string driver;          // kernel driver; empty: none is bound
  std::string runtime_status;  // "active", "suspended", …; empty: unknown
};
std::vector<Adapter> find_adapters(const Roots& roots);
// Returns "0000:01:00.0 NVIDIA [10de:2684]".
std::string describe(const Adapter& adapter);

std::optional<std::string> read_link_target(const std::string& path);
// Returns the kernel driver of the device in a folder of sysfs; empty: none is bound.
std::string read_driver(const std::string& folder);

// Returns whether the caller may read and write the file.
bool is_accessible(const std::string& path);
// Returns findings that limit NVIDIA's measurements.
Section inspect_nvidia(const Roots& roots, const std::vector<Adapter>& adapters,
                       const NvidiaBackends& backends, Site site);
// Returns findings for a vendor whose GPUs are measured by kernel DRM drivers.
Section inspect_vendor(std::uint32_t vendor, const std::vector<Adapter>& adapters,
                       const std::vector<hypomnesis::device>& devices, Site site);
Section inspect_container(const Roots& roots,
                          const std::optional<hypomnesis::system_memory>& memory);
Section inspect_permissions(const Roots& roots, const std::vector<Adapter>& adapters,
                            const MachineEvidence& evidence);
// Returns whether this process is in a container.
Site find_site(const Roots& roots);

}  // namespace hmn::cli
