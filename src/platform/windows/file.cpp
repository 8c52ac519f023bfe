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

struct Opened {
  Handle file;
  int error = 0;
};

// Opens with full sharing. The other end of a pipe may not impersonate us.
Opened open(const char* path, DWORD access, DWORD flags) noexcept {
  const WidePath name(path);
  if (name.error() != 0) return {{}, name.error()};
  constexpr DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  Handle file(CreateFileW(name.c_str(), access, share, nullptr, OPEN_EXISTING,
                          flags | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
  if (!file) return {{}, last_errno()};
  return {std::move(file), 0};
}

DWORD attributes_of(const char* path) noexcept {
  const WidePath name(path);
  return name.error() != 0 ? INVALID_FILE_ATTRIBUTES : GetFileAttributesW(name.c_str());
}

Opened open_to_read(const char* path) noexcept {
  Opened o = open(path, GENERIC_READ, FILE_ATTRIBUTE_NORMAL);
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

ErrnoOr<size_t> read_full(const Handle& from, std::span<char> buffer) noexcept {
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

ErrnoOr<bool> read_until(const Handle& from, std::string& out, size_t cap) {
  size_t filled = 0;
  while (filled < cap) {
    out.resize(std::min(cap, filled + std::max(first_growth, filled)));
    const ErrnoOr<size_t> got = read_full(from, std::span(out).subspan(filled));
    if (!got) return {false, got.error};
    filled += got.value;
    if (filled < out.size()) {
      out.resize(filled);
      return {false, 0};
    }
  }
  char beyond;
  const ErrnoOr<size_t> more = read_full(from, {&beyond, 1});
  return {more.value != 0, more.error};
}

}  // namespace

ErrnoOr<size_t> read_small(const char* path, std::span<char> buffer) noexcept {
  const Opened o = open_to_read(path);
  if (!o.file) return {0, o.error};
  return read_full(o.file, buffer);
}

ErrnoOr<bool> read_whole(const char* path, std::string& out, size_t cap) {
  out.clear();
  const Opened o = open_to_read(path);
  if (!o.file) return {false, o.error};
  const ErrnoOr<bool> cut = read_until(o.file, out, cap);
  if (!cut) out.clear();
  return cut;
}

ErrnoOr<size_t> read_link(const char* path, std::span<char>) noexcept {
  return {0, exists(path) ? EINVAL : ENOENT};
}

ErrnoOr<FileStatus> status_of(const char* path) noexcept {
  // Folders need this flag.
  const Opened o = open(path, FILE_READ_ATTRIBUTES, FILE_FLAG_BACKUP_SEMANTICS);
  if (!o.file) return {{}, o.error};
  BY_HANDLE_FILE_INFORMATION about;
  if (!GetFileInformationByHandle(o.file.get(), &about)) return {{}, last_errno()};
  FileStatus s;
  s.device = about.dwVolumeSerialNumber;
  s.inode = uint64_t{about.nFileIndexHigh} << 32 | about.nFileIndexLow;
  s.size = uint64_t{about.nFileSizeHigh} << 32 | about.nFileSizeLow;
  s.is_directory = (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  return {s, 0};
}

bool exists(const char* path) noexcept {
  return attributes_of(path) != INVALID_FILE_ATTRIBUTES;
}

// Other files would start a shell.
bool is_executable_file(const char* path) noexcept {
  const DWORD attributes = attributes_of(path);
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

class Search {
 public:
  explicit Search(const wchar_t* pattern) noexcept
      : handle_(FindFirstFileExW(pattern, FindExInfoBasic, &found_, FindExSearchNameMatch, nullptr,
                                 0)) {}
  Search(const Search&) = delete;
  ~Search() {
    if (*this) FindClose(handle_);
  }
  explicit operator bool() const noexcept { return handle_ != INVALID_HANDLE_VALUE; }
  [[nodiscard]] std::wstring_view name() const noexcept { return found_.cFileName; }
  bool next() noexcept { return FindNextFileW(handle_, &found_) != 0; }

 private:
  WIN32_FIND_DATAW found_{};
  HANDLE handle_;
};

class PathBelow {
 public:
  PathBelow(const std::string& folder, const char* name) noexcept {
    const size_t length = std::strlen(name);
    bytes_[0] = '\0';
    if (folder.size() + length + 2 > bytes_.size()) return;
    char* at = std::copy(folder.begin(), folder.end(), bytes_.data());
    *at++ = '/';
    std::memcpy(at, name, length + 1);
  }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }

 private:
  std::array<char, 4352> bytes_;
};

}  // namespace

// Opens for each read: no file on Windows is read often enough to be kept open.
ErrnoOr<size_t> KeptFile::read(std::span<char> buffer) noexcept {
  return read_small(path_.c_str(), buffer);
}

KeptFile::~KeptFile() = default;

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
  Search s(pattern.c_str());
  if (!s) return last_errno();
  std::array<char, 3 * MAX_PATH + 1> buffer;
  do {
    const size_t length = to_utf8(s.name(), buffer);
    buffer[length] = '\0';
    const std::string_view name(buffer.data(), length);
    if (name != "." && name != ".." && !visit(name)) return 0;
  } while (s.next());
  return GetLastError() == ERROR_NO_MORE_FILES ? 0 : last_errno();
}

int lowest_free_descriptor() noexcept {
  return -1;
}

int for_each_entry(const char* path, EntryVisitor visit) {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->for_each_entry(path, visit);
  return list_folder(path, visit);
}

// Keeps the path: the folder may be replaced while it is listed.
ErrnoOr<Directory> Directory::open(const char* path) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread()) {
    const int error = r->open_directory(path);
    return error == 0 ? named(path) : ErrnoOr<Directory>{{}, error};
  }
  const ErrnoOr<FileStatus> found = platform::status_of(path);
  if (!found) return {{}, found.error};
  return found.value.is_directory ? named(path) : ErrnoOr<Directory>{{}, ENOTDIR};
}

ErrnoOr<Directory> Directory::named(const char* path) noexcept {
  Directory made;
  try {
    made.recorded_ = std::make_unique<const std::string>(path);
  } catch (const std::bad_alloc&) {
    return {{}, ENOMEM};
  }
  return {std::move(made), 0};
}

Directory::Directory(Directory&& other) noexcept : recorded_(std::move(other.recorded_)) {}

Directory& Directory::operator=(Directory&& other) noexcept {
  recorded_ = std::move(other.recorded_);
  return *this;
}

Directory::~Directory() = default;

ErrnoOr<size_t> Directory::read_small(const char* name, std::span<char> buffer) const noexcept {
  return platform::read_small(PathBelow(*recorded_, name).c_str(), buffer);
}

ErrnoOr<size_t> Directory::read_link(const char* name, std::span<char> buffer) const noexcept {
  return platform::read_link(PathBelow(*recorded_, name).c_str(), buffer);
}

ErrnoOr<FileStatus> Directory::status_of(const char* name) const noexcept {
  return platform::status_of(PathBelow(*recorded_, name).c_str());
}

int Directory::for_each_entry(const char* name, EntryVisitor visit) const {
  return platform::for_each_entry(PathBelow(*recorded_, name).c_str(), visit);
}

ErrnoOr<Directory> Directory::open_folder(const char* name) const noexcept {
  return Directory::open(PathBelow(*recorded_, name).c_str());
}

int Directory::for_each_entry(EntryVisitor visit) const {
  return platform::for_each_entry(recorded_->c_str(), visit);
}

}  // namespace hmn::platform
