// SPDX-License-Identifier: MIT OR Apache-2.0
#include <windows.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "platform/file.hpp"
#include "platform/stand_in.hpp"
#include "platform/windows/list_folder.hpp"
#include "platform/windows/system_error.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::platform {
namespace {

class search {
 public:
  explicit search(const wchar_t* pattern) noexcept
      : handle_(FindFirstFileExW(pattern, FindExInfoBasic, &found_, FindExSearchNameMatch, nullptr,
                                 0)) {}
  search(const search&) = delete;
  ~search() {
    if (*this) FindClose(handle_);
  }
  explicit operator bool() const noexcept { return handle_ != INVALID_HANDLE_VALUE; }
  [[nodiscard]] std::wstring_view name() const noexcept { return found_.cFileName; }
  bool next() noexcept { return FindNextFileW(handle_, &found_) != 0; }

 private:
  WIN32_FIND_DATAW found_{};
  HANDLE handle_;
};

// Path below a folder.
class path_below {
 public:
  path_below(const std::string& folder, const char* name) noexcept {
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

int list_folder(const char* path, entry_visitor visit) {
  const wide_path pattern(path, L"\\*");
  if (pattern.error() != 0) return pattern.error();
  search s(pattern.c_str());
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

int for_each_entry(const char* path, entry_visitor visit) {
  if (stand_in* const r = stand_in::of_thread()) return r->for_each_entry(path, visit);
  return list_folder(path, visit);
}

// Keeps the path: the folder may be replaced while it is listed.
errno_or<directory> directory::open(const char* path) noexcept {
  if (stand_in* const r = stand_in::of_thread()) {
    const int error = r->open_directory(path);
    return error == 0 ? named(path) : errno_or<directory>{{}, error};
  }
  const errno_or<file_status> found = platform::status_of(path);
  if (!found) return {{}, found.error};
  return found.value.is_directory ? named(path) : errno_or<directory>{{}, ENOTDIR};
}

errno_or<directory> directory::named(const char* path) noexcept {
  directory made;
  try {
    made.recorded_ = std::make_unique<const std::string>(path);
  } catch (const std::bad_alloc&) {
    return {{}, ENOMEM};
  }
  return {std::move(made), 0};
}

directory::directory(directory&& other) noexcept : recorded_(std::move(other.recorded_)) {}

directory& directory::operator=(directory&& other) noexcept {
  recorded_ = std::move(other.recorded_);
  return *this;
}

directory::~directory() = default;

errno_or<size_t> directory::read_small(const char* name, std::span<char> buffer) const noexcept {
  return platform::read_small(path_below(*recorded_, name).c_str(), buffer);
}

errno_or<size_t> directory::read_link(const char* name, std::span<char> buffer) const noexcept {
  return platform::read_link(path_below(*recorded_, name).c_str(), buffer);
}

errno_or<file_status> directory::status_of(const char* name) const noexcept {
  return platform::status_of(path_below(*recorded_, name).c_str());
}

int directory::for_each_entry(const char* name, entry_visitor visit) const {
  return platform::for_each_entry(path_below(*recorded_, name).c_str(), visit);
}

errno_or<directory> directory::open_folder(const char* name) const noexcept {
  return directory::open(path_below(*recorded_, name).c_str());
}

int directory::for_each_entry(entry_visitor visit) const {
  return platform::for_each_entry(recorded_->c_str(), visit);
}

}  // namespace hmn::platform
