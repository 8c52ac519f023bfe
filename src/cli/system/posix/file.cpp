// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace hmn::cli {
namespace {

constexpr std::size_t longest_file = 1 << 20;

}  // namespace

constinit const std::string_view path_separators = "/";

bool is_there(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0;
}

bool is_folder(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

std::optional<std::string> why_unreadable(const std::string& path) {
  if (access(path.c_str(), R_OK) == 0) return std::nullopt;
  return std::strerror(errno);
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).string();
}

std::optional<std::string> read_text_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t length = 0;
  while (text.size() < longest_file &&
         (length = read(descriptor, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(length));
  close(descriptor);
  return length < 0 ? std::nullopt : std::optional(std::move(text));
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) return names;
  while (const auto* entry = readdir(folder.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hmn::cli
