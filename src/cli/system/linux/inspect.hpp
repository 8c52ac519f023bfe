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
struct adapter {
  std::string address;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::string driver;          // kernel driver; empty: none is bound
  std::string runtime_status;  // "active", "suspended", …; empty: unknown
};
std::vector<adapter> find_adapters(const roots& in);
// Returns "0000:01:00.0 NVIDIA [10de:2684]".
std::string describe(const adapter& of);

std::optional<std::string> read_link_target(const std::string& path);
// Returns the kernel driver of the device with that folder; empty: none is bound.
std::string driver_in(const std::string& folder);

// Returns whether the caller may read and write it.
bool usable(const std::string& path);
// Returns findings that limit NVIDIA's measurements.
section inspect_nvidia(const roots& in, const std::vector<adapter>& adapters,
                       const nvidia_backends& backends, site at);
// Returns findings for a vendor whose GPUs are measured by kernel DRM drivers.
section inspect_vendor(std::uint32_t vendor, const std::vector<adapter>& adapters,
                       const std::vector<hypomnesis::device>& measured, site at);
section inspect_container(const roots& in, const std::optional<hypomnesis::system_memory>& memory);
section inspect_permissions(const roots& in, const std::vector<adapter>& adapters,
                            const machine_evidence& seen);
// Returns whether this process is in a container.
site site_in(const roots& in);

}  // namespace hmn::cli
