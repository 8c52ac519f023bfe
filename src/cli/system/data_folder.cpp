// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/data_folder.hpp"

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

}  // namespace

std::optional<std::string> installed_file(const std::string& name) {
  std::vector<char> buffer(platform::longest_path);
  const auto folder = platform::own_folder(buffer);
  if (folder.empty()) return std::nullopt;
  auto path = joined(folder, HMN_DATA_FROM_BIN) + "/" + name;
  return why_unreadable(path) ? std::nullopt : std::optional(std::move(path));
}

}  // namespace hmn::cli
