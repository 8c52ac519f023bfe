// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <optional>
#include <vector>

#include "cli/finding.hpp"
#include "cli/handles.hpp"
#include "cli/hardware.hpp"

namespace hmn::cli {

// What stands between this machine and its figures.
struct nvidia_backends {
  std::optional<hmn_backend_info> nvml;
  std::optional<hmn_backend_info> nvidia_smi;
};

section inspect_nvidia(const roots& in, const std::vector<adapter>& adapters,
                       const nvidia_backends& backends);
// Of a vendor whose GPUs are measured by kernel DRM drivers.
section inspect_vendor(std::uint32_t vendor, const std::vector<adapter>& adapters,
                       const std::vector<hmn_device>& measured);
section inspect_container(const roots& in, const std::optional<hmn_system_memory>& memory);
section inspect_permissions(const roots& in, const std::vector<adapter>& adapters);
// A row for each source of measurement, NVIDIA's aside, which stand with their adapters.
section inspect_sources(const context& in);

}  // namespace hmn::cli
