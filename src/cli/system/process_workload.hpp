// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "procfs/workload.hpp"

namespace hmn::cli {

// Reads the workload that a process' control groups name, from the proc tree that the library
// reads. Returns none for a process that is gone, and on systems without control groups.
std::optional<procfs::workload> process_workload(std::uint32_t pid);

}  // namespace hmn::cli
