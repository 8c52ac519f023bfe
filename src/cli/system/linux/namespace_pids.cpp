// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/linux/namespace_pids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "cli/system/file.hpp"
#include "cli/system/process_facts.hpp"
#include "cli/system/roots.hpp"

namespace hmn::cli {

std::vector<std::uint32_t> parse_namespace_pids(std::string_view status) {
  constexpr std::string_view key = "NSpid:";
  std::vector<std::uint32_t> pids;
  while (!status.empty() && !status.starts_with(key)) {
    const auto end = status.find('\n');
    status = end == std::string_view::npos ? std::string_view() : status.substr(end + 1);
  }
  if (status.empty()) return pids;
  auto line = status.substr(key.size(), status.find('\n') - key.size());
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) return pids;
    std::uint32_t pid = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), pid);
    const auto length = static_cast<std::size_t>(parsed.ptr - line.data());
    const bool ends = length == line.size() || line[length] == ' ' || line[length] == '\t';
    if (parsed.ec != std::errc{} || !ends) return {};
    pids.push_back(pid);
    line.remove_prefix(length);
  }
}

std::optional<std::uint32_t> namespace_pid(std::uint32_t pid) {
  const auto text = read_text_file(fmt::format("{}/{}/status", roots_from_environment().proc, pid));
  const auto pids = parse_namespace_pids(text.value_or(""));
  return pids.empty() ? std::nullopt : std::optional(pids.back());
}

}  // namespace hmn::cli
