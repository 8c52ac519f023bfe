// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cli/system/inspect.hpp"
#include "cli/system/linux/hardware.hpp"

namespace hmn::cli {

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
                            const std::vector<hypomnesis::device>& measured, site at);
// Returns whether this process is in a container.
site site_in(const roots& in);

}  // namespace hmn::cli
