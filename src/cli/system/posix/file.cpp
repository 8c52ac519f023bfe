// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/system/streams.hpp"
#include "platform/file.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t longest_file = 1 << 20;

std::optional<std::string> real_path(const char* path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path, nullptr), &std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

std::string identity(std::uint64_t device, std::uint64_t inode) {
  return fmt::format("{}:{}", device, inode);
}

constexpr int most_links = 40;

// Replaces a link by where it leads to; returns false for what is none.
bool follow(std::string& path) {
  std::array<char, 4096> target;
  const auto got = platform::read_link(path.c_str(), target);
  if (!got) return false;
  if (target[0] != '/') path.resize(path.rfind('/') + 1);  // npos: nothing remains
  path = (target[0] == '/' ? "" : path) + std::string(target.data(), got.value);
  return true;
}

// Returns what identifies a file: where it is stored, or the path that it will have. "-": standard
// output.
std::string resolved(const std::string& asked) {
  struct stat output {};
  if (asked == "-" && fstat(output_descriptor(), &output) == 0)
    return identity(static_cast<std::uint64_t>(output.st_dev), output.st_ino);
  if (const auto is = platform::status_of(path_to_open(asked).c_str()))
    return identity(is.value.device, is.value.inode);
  const auto path = link_target(asked);
  const auto slash = path.rfind('/');
  const auto folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return real_path(folder.c_str()).value_or(folder) + '/' + path.substr(slash + 1);
}

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
  return resolved(path) == resolved(other);
}

std::string link_target(std::string path) {
  for (int i = 0; i < most_links && follow(path); ++i) continue;
  return path;
}

std::string path_to_open(const std::string& path) {
  auto now = path;
  for (int i = 0; i < most_links; ++i) {
    for (const std::string folder : {"/proc/self/fd/", "/dev/fd/"})
      if (now == folder + "1") return folder + fmt::to_string(output_descriptor());
    if (!follow(now)) break;
  }
  return path;
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
