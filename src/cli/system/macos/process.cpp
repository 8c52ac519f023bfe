// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process.hpp"

namespace hmn::cli {

// Returns none: macOS has no PID namespaces.
std::optional<std::uint32_t> find_namespace_pid(std::uint32_t) {
  return std::nullopt;
}

std::optional<std::uint64_t> read_process_cpu_ns(const Roots&, std::uint32_t) {
  return std::nullopt;
}

}  // namespace hmn::cli
