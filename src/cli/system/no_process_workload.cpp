// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_workload.hpp"

namespace hmn::cli {

std::optional<procfs::workload> process_workload(std::uint32_t) {
  return std::nullopt;
}

}  // namespace hmn::cli
