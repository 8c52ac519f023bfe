// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/file.hpp"

#include <algorithm>

#include "platform/windows/list_folder.hpp"

namespace hmn::platform {
namespace {

constexpr bool is_separator(char c) noexcept {
  return c == '\\' || c == '/';
}

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

// "C:\..." or "\\server\...".
bool is_absolute(std::string_view path) noexcept {
  if (path.size() < 3) return false;
  const char drive = lower(path[0]);
  const bool has_drive = drive >= 'a' && drive <= 'z' && path[1] == ':' && is_separator(path[2]);
  return has_drive || (is_separator(path[0]) && is_separator(path[1]));
}

bool is_program_name(std::string_view name) noexcept {
  constexpr std::string_view ending = ".exe";
  if (name.size() <= ending.size()) return false;
  name.remove_prefix(name.size() - ending.size());
  return std::equal(name.begin(), name.end(), ending.begin(),
                    [](char a, char b) { return lower(a) == b; });
}

}  // namespace hmn::platform
