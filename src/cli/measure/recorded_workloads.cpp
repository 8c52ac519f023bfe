// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/recorded_workloads.hpp"

#include <fmt/format.h>

#include <string_view>

#include "cli/system/file.hpp"
#include "cli/text/json.hpp"

namespace hmn::cli {
namespace {

// Recordings have at most 16 MiB; a described machine is smaller.
constexpr std::uint64_t largest_machine = std::uint64_t{64} << 20;

}  // namespace

RecordedWorkloads::RecordedWorkloads(const std::string& machine) {
  if (is_folder(machine)) {
    proc_ = machine + "/proc";
    return;
  }
  const auto text = read_whole(machine, largest_machine);
  if (!text) return;
  const auto parsed = json::parse(*text);
  const auto* const document = std::get_if<json::Value>(&parsed);
  const auto* const recording = document != nullptr ? document->find("recording") : nullptr;
  const auto* const files = recording != nullptr ? recording->find("files") : nullptr;
  if (files == nullptr || files->items() == nullptr) return;
  for (const auto& file : *files->items()) {
    const auto* const path = file.find("path");
    const auto* const content = file.find("text");
    if (path == nullptr || path->text() == nullptr || !path->text()->ends_with("/cgroup")) continue;
    if (content == nullptr || content->text() == nullptr) continue;
    // A tree that was elsewhere is at /machine/proc.
    constexpr std::string_view copied_root = "/machine";
    const std::string_view full_path = *path->text();
    text_by_path_[std::string(full_path.substr(
        full_path.starts_with(copied_root) ? copied_root.size() : 0))] = *content->text();
  }
}

std::optional<procfs::Workload> RecordedWorkloads::find(std::uint32_t pid) const {
  if (!proc_.empty()) {
    const auto text = read_whole(fmt::format("{}/{}/cgroup", proc_, pid), largest_machine);
    return text ? std::optional(procfs::parse_workload(*text)) : std::nullopt;
  }
  const auto it = text_by_path_.find(fmt::format("/proc/{}/cgroup", pid));
  return it != text_by_path_.end() ? std::optional(procfs::parse_workload(it->second))
                                   : std::nullopt;
}

}  // namespace hmn::cli
