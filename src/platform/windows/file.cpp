// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/file.hpp"

#include <algorithm>

#include "platform/real_file.hpp"
#include "platform/stand_in.hpp"
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

errno_or<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->read_small(path, buffer);
  return real::read_small(path, buffer);
}

errno_or<bool> read_whole(const char* path, std::string& out, size_t cap) {
  if (stand_in* const r = stand_in::of_thread()) return r->read_whole(path, out, cap);
  return real::read_whole(path, out, cap);
}

errno_or<size_t> read_link(const char* path, std::span<char> buffer) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->read_link(path, buffer);
  return real::read_link(path, buffer);
}

errno_or<file_status> status_of(const char* path) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->status_of(path);
  return real::status_of(path);
}

bool exists(const char* path) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->exists(path);
  return real::exists(path);
}

bool is_executable_file(const char* path) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->is_executable_file(path);
  return real::is_executable_file(path);
}

}  // namespace hmn::platform
