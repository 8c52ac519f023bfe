// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <optional>
#include <vector>

#include "cli/finding.hpp"
#include "cli/hardware.hpp"

namespace hmn::cli {

// What stands between this machine and its figures.
struct nvidia_backends {
  std::optional<hmn_backend_info> nvml;
  std::optional<hmn_backend_info> nvidia_smi;
};

section inspect_nvidia(const roots& in, const std::vector<adapter>& adapters,
                       const nvidia_backends& backends);
section inspect_amd(const std::vector<adapter>& adapters);
section inspect_intel(const std::vector<adapter>& adapters);
section inspect_container(const roots& in, const std::optional<hmn_system_memory>& memory);
section inspect_permissions(const roots& in);

}  // namespace hmn::cli
