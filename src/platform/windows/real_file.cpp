// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/real_file.hpp"

#include <windows.h>

#include <algorithm>
#include <cerrno>

#include "platform/file.hpp"
#include "platform/windows/handle.hpp"
#include "platform/windows/list_folder.hpp"
#include "platform/windows/system_error.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::platform::real {
namespace {

constexpr size_t first_growth = 16384;

struct opened {
  handle file;
  int error = 0;
};

// Opens with full sharing. The other end of a pipe may not act on our behalf.
opened open(const char* path, DWORD access, DWORD flags) noexcept {
  const wide_path name(path);
  if (name.error() != 0) return {{}, name.error()};
  constexpr DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  handle file(CreateFileW(name.c_str(), access, share, nullptr, OPEN_EXISTING,
                          flags | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
  if (!file) return {{}, last_errno()};
  return {std::move(file), 0};
}

DWORD attributes_of(const char* path) noexcept {
  const wide_path name(path);
  return name.error() != 0 ? INVALID_FILE_ATTRIBUTES : GetFileAttributesW(name.c_str());
}

opened open_to_read(const char* path) noexcept {
  opened o = open(path, GENERIC_READ, FILE_ATTRIBUTE_NORMAL);
  if (!o.file) {
    const DWORD attributes = o.error == EACCES ? attributes_of(path) : INVALID_FILE_ATTRIBUTES;
    const bool is_folder =
        attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return {{}, is_folder ? EISDIR : o.error};
  }
  // Anything but a file could block.
  if (GetFileType(o.file.get()) != FILE_TYPE_DISK) return {{}, EINVAL};
  return o;
}

errno_or<size_t> read_full(const handle& from, std::span<char> buffer) noexcept {
  size_t filled = 0;
  while (filled < buffer.size()) {
    const auto wanted = static_cast<DWORD>(std::min<size_t>(buffer.size() - filled, 1U << 30));
    DWORD got = 0;
    if (!ReadFile(from.get(), buffer.data() + filled, wanted, &got, nullptr))
      return {0, last_errno()};
    if (got == 0) break;
    filled += got;
  }
  return {filled, 0};
}

errno_or<bool> read_until(const handle& from, std::string& out, size_t cap) {
  size_t filled = 0;
  while (filled < cap) {
    out.resize(std::min(cap, filled + std::max(first_growth, filled)));
    const errno_or<size_t> got = read_full(from, std::span(out).subspan(filled));
    if (!got) return {false, got.error};
    filled += got.value;
    if (filled < out.size()) {
      out.resize(filled);
      return {false, 0};
    }
  }
  char beyond;
  const errno_or<size_t> more = read_full(from, {&beyond, 1});
  return {more.value != 0, more.error};
}

}  // namespace

errno_or<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  const opened o = open_to_read(path);
  if (!o.file) return {0, o.error};
  return read_full(o.file, buffer);
}

errno_or<bool> read_whole(const char* path, std::string& out, size_t cap) {
  out.clear();
  const opened o = open_to_read(path);
  if (!o.file) return {false, o.error};
  const errno_or<bool> cut = read_until(o.file, out, cap);
  if (!cut) out.clear();
  return cut;
}

errno_or<size_t> read_link(const char* path, std::span<char>) noexcept {
  return {0, exists(path) ? EINVAL : ENOENT};
}

errno_or<file_status> status_of(const char* path) noexcept {
  // Flag required for folders.
  const opened o = open(path, FILE_READ_ATTRIBUTES, FILE_FLAG_BACKUP_SEMANTICS);
  if (!o.file) return {{}, o.error};
  BY_HANDLE_FILE_INFORMATION about;
  if (!GetFileInformationByHandle(o.file.get(), &about)) return {{}, last_errno()};
  file_status s;
  s.device = about.dwVolumeSerialNumber;
  s.inode = uint64_t{about.nFileIndexHigh} << 32 | about.nFileIndexLow;
  s.size = uint64_t{about.nFileSizeHigh} << 32 | about.nFileSizeLow;
  s.is_directory = (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  return {s, 0};
}

bool exists(const char* path) noexcept {
  return attributes_of(path) != INVALID_FILE_ATTRIBUTES;
}

// Tests the suffix: others start a shell.
bool is_executable_file(const char* path) noexcept {
  const DWORD attributes = attributes_of(path);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0 &&
         is_program_name(path);
}

int for_each_entry(const char* path, entry_visitor visit) {
  return list_folder(path, visit);
}

}  // namespace hmn::platform::real

namespace hmn::platform {

// Opens for each read: no file on Windows is read often enough to keep it open.
errno_or<size_t> kept_file::read(std::span<char> buffer) noexcept {
  return read_small(path_.c_str(), buffer);
}

kept_file::~kept_file() = default;

namespace {

constexpr bool is_separator(char c) noexcept {
  return c == '\\' || c == '/';
}

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

// Tests for "C:\..." or "\\server\...".
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
