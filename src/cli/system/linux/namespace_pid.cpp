// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include "cli/system/file.hpp"
#include "cli/system/process_facts.hpp"
#include "cli/system/roots.hpp"
#include "procfs/status.hpp"

namespace hmn::cli {

std::optional<std::uint32_t> namespace_pid(std::uint32_t pid) {
  const auto text = read_text_file(fmt::format("{}/{}/status", roots_from_environment().proc, pid));
  const auto pids = procfs::parse_namespace_pids(text.value_or(""));
  return pids.empty() ? std::nullopt : std::optional(pids.back());
}

}  // namespace hmn::cli
