// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "platform/file.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t longest_file = 1 << 20;

}  // namespace

constinit const std::string_view path_separators = "/";

bool is_there(const std::string& path) {
  return platform::exists(path.c_str());
}

bool is_folder(const std::string& path) {
  const auto found = platform::status_of(path.c_str());
  return found && found.value.is_directory;
}

std::optional<std::string> why_unreadable(const std::string& path) {
  if (access(path.c_str(), R_OK) == 0) return std::nullopt;
  return std::strerror(errno);
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).string();
}

bool is_same_file(const std::string& path, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(path, other, error)) return true;
  return fs::weakly_canonical(absolute_path(path), error) ==
         fs::weakly_canonical(absolute_path(other), error);
}

std::optional<std::string> read_text_file(const std::string& path) {
  std::string text;
  return platform::read_whole(path.c_str(), text, longest_file) ? std::optional(std::move(text))
                                                                : std::nullopt;
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  (void)platform::for_each_entry(path.c_str(), [&](std::string_view name) {
    if (!name.starts_with('.')) names.emplace_back(name);
    return true;
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hmn::cli
