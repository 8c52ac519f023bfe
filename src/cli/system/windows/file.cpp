// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/file.hpp"

#include <windows.h>

#include <algorithm>
#include <memory>

#include "cli/system/windows/error_text.hpp"
#include "platform/windows/handle.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::cli {
namespace {

DWORD attributes_of(const std::string& path) {
  return GetFileAttributesW(platform::to_wide(path).c_str());
}

std::optional<BY_HANDLE_FILE_INFORMATION> identity_of(const std::string& path) {
  const platform::handle file(CreateFileW(
      platform::to_wide(path).c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  BY_HANDLE_FILE_INFORMATION info{};
  if (!file || GetFileInformationByHandle(file.get(), &info) == 0) return std::nullopt;
  return info;
}

struct close_search {
  using pointer = HANDLE;
  void operator()(HANDLE open) const noexcept {
    if (open != INVALID_HANDLE_VALUE) FindClose(open);
  }
};

}  // namespace

// Includes the colon after a drive: "C:model.gguf" is in the drive's current folder.
constinit const std::string_view path_separators = "/\\:";

bool is_there(const std::string& path) {
  return attributes_of(path) != INVALID_FILE_ATTRIBUTES;
}

bool is_folder(const std::string& path) {
  const auto found = attributes_of(path);
  return found != INVALID_FILE_ATTRIBUTES && (found & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

std::optional<std::string> why_unreadable(const std::string& path) {
  const platform::handle file(CreateFileW(platform::to_wide(path).c_str(), GENERIC_READ,
                                          FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                          nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS,
                                          nullptr));
  if (file) return std::nullopt;
  return last_error_text();
}

std::string absolute_path(const std::string& path) {
  const auto wide = platform::to_wide(path);
  std::wstring full(MAX_PATH, L'\0');
  for (;;) {
    const auto length =
        GetFullPathNameW(wide.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
    if (length == 0) return path;
    if (length < full.size()) return platform::to_utf8({full.data(), length});
    full.resize(length);
  }
}

bool is_same_file(const std::string& path, const std::string& other) {
  const auto a = identity_of(path);
  const auto b = identity_of(other);
  if (a && b)
    return a->dwVolumeSerialNumber == b->dwVolumeSerialNumber &&
           a->nFileIndexHigh == b->nFileIndexHigh && a->nFileIndexLow == b->nFileIndexLow;
  const auto wide = platform::to_wide(absolute_path(path));
  const auto wide_other = platform::to_wide(absolute_path(other));
  return CompareStringOrdinal(wide.c_str(), -1, wide_other.c_str(), -1, TRUE) == CSTR_EQUAL;
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  WIN32_FIND_DATAW entry{};
  const std::unique_ptr<void, close_search> search(
      FindFirstFileW(platform::to_wide(path + "/*").c_str(), &entry));
  if (search.get() == INVALID_HANDLE_VALUE) return names;
  do {
    if (entry.cFileName[0] != L'.') names.push_back(platform::to_utf8(entry.cFileName));
  } while (FindNextFileW(search.get(), &entry) != 0);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hmn::cli
