// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_workload.hpp"

#include <fmt/format.h>

#include "cli/system/file.hpp"
#include "cli/system/roots.hpp"

namespace hmn::cli {

std::optional<procfs::workload> process_workload(std::uint32_t pid) {
  const auto text = read_text_file(fmt::format("{}/{}/cgroup", roots_from_environment().proc, pid));
  return text ? std::optional(procfs::parse_workload(*text)) : std::nullopt;
}

}  // namespace hmn::cli
