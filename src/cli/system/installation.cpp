// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/installation.hpp"

#include <string_view>
#include <vector>

#include "cli/system/file.hpp"
#include "platform/library.hpp"

namespace hmn::cli {
namespace {

// Returns the path without "..": of folder "/usr/bin" and "../share" it is "/usr/share".
std::string join_paths(std::string_view folder, std::string_view relative) {
  while (relative.starts_with("../")) {
    relative.remove_prefix(3);
    folder = folder.substr(0, folder.find_last_of("/\\"));
  }
  return std::string(folder).append("/").append(relative);
}

// Returns "" where there is none.
std::string find_machine_folder() {
  std::vector<char> buffer(platform::max_path_size);
  const auto folder = platform::own_folder(buffer);
  // Not known without /proc.
  if (folder.empty()) return HMN_DATA "/machines";
  // Relative to hmn, to a program that it executes, and in a build folder.
  for (const auto* data_folder : {HMN_DATA_FROM_BIN, HMN_DATA_FROM_LIBEXEC, "."})
    if (auto path = join_paths(folder, data_folder) + "/machines"; is_folder(path)) return path;
  return {};
}

constexpr std::string_view suffix = ".json";

}  // namespace

std::optional<std::string> find_machine_file(const std::string& name) {
  auto path = find_machine_folder() + "/" + name;
  if (!name.ends_with(suffix)) path += suffix;
  return explain_unreadable(path) ? std::nullopt : std::optional(std::move(path));
}

std::vector<std::string> list_machines() {
  std::vector<std::string> names;
  for (auto& file : list_folder(find_machine_folder()))
    if (file.ends_with(suffix)) names.push_back(file.substr(0, file.size() - suffix.size()));
  return names;
}

}  // namespace hmn::cli
