// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/file.hpp"

#include <windows.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "platform/file.hpp"
#include "platform/system_override.hpp"
#include "platform/windows/system.hpp"

namespace hmn::platform::real {
namespace {

constexpr size_t first_growth = 16384;

struct OpenResult {
  Handle file;
  int error = 0;
};

// Opens with full sharing. The other end of a pipe may not impersonate us.
OpenResult open(const char* path, DWORD access, DWORD flags) noexcept {
  const WidePath name(path);
  if (name.error() != 0) return {{}, name.error()};
  constexpr DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  Handle file(CreateFileW(name.c_str(), access, share, nullptr, OPEN_EXISTING,
                          flags | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
  if (!file) return {{}, last_errno()};
  return {std::move(file), 0};
}

DWORD get_attributes(const char* path) noexcept {
  const WidePath name(path);
  return name.error() != 0 ? INVALID_FILE_ATTRIBUTES : GetFileAttributesW(name.c_str());
}

OpenResult open_to_read(const char* path) noexcept {
  OpenResult result = open(path, GENERIC_READ, FILE_ATTRIBUTE_NORMAL);
  if (!result.file) {
    const DWORD attributes =
        result.error == EACCES ? get_attributes(path) : INVALID_FILE_ATTRIBUTES;
    const bool is_folder =
        attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return {{}, is_folder ? EISDIR : result.error};
  }
  // Anything but a file could block.
  if (GetFileType(result.file.get()) != FILE_TYPE_DISK) return {{}, EINVAL};
  return result;
}

ErrnoOr<size_t> read_full(const Handle& file, std::span<char> buffer) noexcept {
  size_t filled = 0;
  while (filled < buffer.size()) {
    const auto size = static_cast<DWORD>(std::min<size_t>(buffer.size() - filled, 1U << 30));
    DWORD count = 0;
    if (!ReadFile(file.get(), buffer.data() + filled, size, &count, nullptr))
      return {0, last_errno()};
    if (count == 0) break;
    filled += count;
  }
  return {filled, 0};
}

ErrnoOr<bool> read_until(const Handle& file, std::string& out, size_t cap) {
  size_t filled = 0;
  while (filled < cap) {
    out.resize(std::min(cap, filled + std::max(first_growth, filled)));
    const ErrnoOr<size_t> result = read_full(file, std::span(out).subspan(filled));
    if (!result) return {false, result.error};
    filled += result.value;
    if (filled < out.size()) {
      out.resize(filled);
      return {false, 0};
    }
  }
  char beyond;
  const ErrnoOr<size_t> extra = read_full(file, {&beyond, 1});
  return {extra.value != 0, extra.error};
}

}  // namespace

ErrnoOr<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  const OpenResult opened = open_to_read(path);
  if (!opened.file) return {0, opened.error};
  return read_full(opened.file, buffer);
}

ErrnoOr<bool> read_whole(const char* path, std::string& out, size_t cap) {
  out.clear();
  const OpenResult opened = open_to_read(path);
  if (!opened.file) return {false, opened.error};
  const ErrnoOr<bool> result = read_until(opened.file, out, cap);
  if (!result) out.clear();
  return result;
}

ErrnoOr<size_t> read_link(const char* path, std::span<char>) noexcept {
  return {0, exists(path) ? EINVAL : ENOENT};
}

ErrnoOr<FileStatus> read_status(const char* path) noexcept {
  // Folders need this flag.
  const OpenResult opened = open(path, FILE_READ_ATTRIBUTES, FILE_FLAG_BACKUP_SEMANTICS);
  if (!opened.file) return {{}, opened.error};
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(opened.file.get(), &info)) return {{}, last_errno()};
  FileStatus status;
  status.device = info.dwVolumeSerialNumber;
  status.inode = uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow;
  status.size = uint64_t{info.nFileSizeHigh} << 32 | info.nFileSizeLow;
  status.is_directory = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  return {status, 0};
}

bool exists(const char* path) noexcept {
  return get_attributes(path) != INVALID_FILE_ATTRIBUTES;
}

// Other files would start a shell.
bool is_executable_file(const char* path) noexcept {
  const DWORD attributes = get_attributes(path);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0 &&
         is_program_name(path);
}

int for_each_entry(const char* path, EntryVisitor visit) {
  return list_folder(path, visit);
}

}  // namespace hmn::platform::real

namespace hmn::platform {
namespace {

constexpr bool is_separator(char c) noexcept {
  return c == '\\' || c == '/';
}

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

class FolderSearch {
 public:
  explicit FolderSearch(const wchar_t* pattern) noexcept
      : handle_(FindFirstFileExW(pattern, FindExInfoBasic, &entry_, FindExSearchNameMatch, nullptr,
                                 0)) {}
  FolderSearch(const FolderSearch&) = delete;
  ~FolderSearch() {
    if (*this) FindClose(handle_);
  }
  explicit operator bool() const noexcept { return handle_ != INVALID_HANDLE_VALUE; }
  [[nodiscard]] std::wstring_view name() const noexcept { return entry_.cFileName; }
  bool next() noexcept { return FindNextFileW(handle_, &entry_) != 0; }

 private:
  WIN32_FIND_DATAW entry_{};
  HANDLE handle_;
};

class EntryPath {
 public:
  EntryPath(const std::string& folder, const char* name) noexcept {
    const size_t length = std::strlen(name);
    bytes_[0] = '\0';
    if (folder.size() + length + 2 > bytes_.size()) return;
    char* end = std::copy(folder.begin(), folder.end(), bytes_.data());
    *end++ = '/';
    std::memcpy(end, name, length + 1);
  }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }

 private:
  std::array<char, 4352> bytes_;
};

}  // namespace

// Opens for each read: no file on Windows is read often enough to be kept open.
ErrnoOr<size_t> CachedFile::read(std::span<char> buffer) noexcept {
  return read_small(path_.c_str(), buffer);
}

CachedFile::~CachedFile() = default;

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

int list_folder(const char* path, EntryVisitor visit) {
  const WidePath pattern(path, L"\\*");
  if (pattern.error() != 0) return pattern.error();
  FolderSearch search(pattern.c_str());
  if (!search) return last_errno();
  std::array<char, 3 * MAX_PATH + 1> buffer;
  do {
    const size_t length = to_utf8(search.name(), buffer);
    buffer[length] = '\0';
    const std::string_view name(buffer.data(), length);
    if (name != "." && name != ".." && !visit(name)) return 0;
  } while (search.next());
  return GetLastError() == ERROR_NO_MORE_FILES ? 0 : last_errno();
}

int lowest_free_descriptor() noexcept {
  return -1;
}

int for_each_entry(const char* path, EntryVisitor visit) {
  if (SystemOverride* const active = SystemOverride::active())
    return active->for_each_entry(path, visit);
  return list_folder(path, visit);
}

// Keeps the path: the folder may be replaced while it is listed.
ErrnoOr<Directory> Directory::open(const char* path) noexcept {
  if (SystemOverride* const active = SystemOverride::active()) {
    const int error = active->open_directory(path);
    return error == 0 ? make_from_path(path) : ErrnoOr<Directory>{{}, error};
  }
  const ErrnoOr<FileStatus> status = platform::read_status(path);
  if (!status) return {{}, status.error};
  return status.value.is_directory ? make_from_path(path) : ErrnoOr<Directory>{{}, ENOTDIR};
}

ErrnoOr<Directory> Directory::make_from_path(const char* path) noexcept {
  Directory directory;
  try {
    directory.path_ = std::make_unique<const std::string>(path);
  } catch (const std::bad_alloc&) {
    return {{}, ENOMEM};
  }
  return {std::move(directory), 0};
}

Directory::Directory(Directory&& other) noexcept
    : path_(std::move(other.path_)) {}

Directory& Directory::operator=(Directory&& other) noexcept {
  path_ = std::move(other.path_);
  return *this;
}

Directory::~Directory() = default;

ErrnoOr<size_t> Directory::read_small(const char* name, std::span<char> buffer) const noexcept {
  return platform::read_small(EntryPath(*path_, name).c_str(), buffer);
}

ErrnoOr<size_t> Directory::read_link(const char* name, std::span<char> buffer) const noexcept {
  return platform::read_link(EntryPath(*path_, name).c_str(), buffer);
}

ErrnoOr<FileStatus> Directory::read_status(const char* name) const noexcept {
  return platform::read_status(EntryPath(*path_, name).c_str());
}

int Directory::for_each_entry(const char* name, EntryVisitor visit) const {
  return platform::for_each_entry(EntryPath(*path_, name).c_str(), visit);
}

ErrnoOr<Directory> Directory::open_folder(const char* name) const noexcept {
  return Directory::open(EntryPath(*path_, name).c_str());
}

int Directory::for_each_entry(EntryVisitor visit) const {
  return platform::for_each_entry(path_->c_str(), visit);
}

}  // namespace hmn::platform
