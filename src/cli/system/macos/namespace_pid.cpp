// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_facts.hpp"

namespace hmn::cli {

// macOS has one space of pids.
std::optional<std::uint32_t> namespace_pid(std::uint32_t) {
  return std::nullopt;
}

}  // namespace hmn::cli
