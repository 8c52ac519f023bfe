// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/installation.hpp"

#include <string_view>
#include <vector>

#include "cli/system/file.hpp"
#include "platform/library.hpp"

namespace hmn::cli {
namespace {

// Returns the path without "..": of folder "/usr/bin" and "../share" it is "/usr/share".
std::string joined(std::string_view folder, std::string_view relative) {
  while (relative.starts_with("../")) {
    relative.remove_prefix(3);
    folder = folder.substr(0, folder.find_last_of("/\\"));
  }
  return std::string(folder).append("/").append(relative);
}

// Returns "" where there is none.
std::string machine_folder() {
  std::vector<char> buffer(platform::longest_path);
  const auto folder = platform::own_folder(buffer);
  // Not known without /proc.
  if (folder.empty()) return HMN_DATA "/machines";
  // Of hmn, of a program that it becomes, and in a build folder.
  for (const auto* data : {HMN_DATA_FROM_BIN, HMN_DATA_FROM_LIBEXEC, "."})
    if (auto found = joined(folder, data) + "/machines"; is_folder(found)) return found;
  return {};
}

constexpr std::string_view suffix = ".json";

}  // namespace

std::optional<std::string> machine_file(const std::string& name) {
  auto path = machine_folder() + "/" + name;
  if (!name.ends_with(suffix)) path += suffix;
  return why_unreadable(path) ? std::nullopt : std::optional(std::move(path));
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (auto& each : list_folder(machine_folder()))
    if (each.ends_with(suffix)) names.push_back(each.substr(0, each.size() - suffix.size()));
  return names;
}

}  // namespace hmn::cli
