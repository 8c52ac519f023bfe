// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/library.hpp"

#include <windows.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "platform/file.hpp"
#include "platform/library.hpp"
#include "platform/windows/system.hpp"

namespace hmn::platform {
namespace {

constexpr std::size_t drive_length = 2;  // "C:"

// Suppresses the dialog for a missing or broken library.
class QuietErrors {
 public:
  QuietErrors() noexcept {
    SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &previous_);
  }
  QuietErrors(const QuietErrors&) = delete;
  ~QuietErrors() { SetThreadErrorMode(previous_, nullptr); }

 private:
  DWORD previous_ = 0;
};

std::string_view describe_error(DWORD error) noexcept {
  switch (error) {
    case ERROR_MOD_NOT_FOUND:
      return "it or a library that it needs does not exist";
    case ERROR_PROC_NOT_FOUND:
      return "a library that it needs lacks a function";
    case ERROR_BAD_EXE_FORMAT:
      return "it is built for another kind of processor";
    case ERROR_ACCESS_DENIED:
      return "access is denied";
    case ERROR_DLL_INIT_FAILED:
      return "its initialisation failed";
    default:
      return "it cannot be loaded";
  }
}

void set_error(Library::OpenResult& result, const char* name, DWORD error) {
  char number[16];
  const auto end = std::to_chars(number, number + sizeof number, error).ptr;
  result.is_missing = error == ERROR_MOD_NOT_FOUND;  // also when a library that it needs is missing
  result.error_text = name;
  result.error_text += ": ";
  result.error_text += describe_error(error);
  result.error_text.append(" (error ").append(number, end).append(")");
}

// Searches for a plain name in the system's folder only, never in the program's or the current
// folder. For a path, its dependencies are searched for in its own folder as well.
HMODULE load(std::string_view name) {
  const QuietErrors quiet;
  const bool is_name = name.find_first_of("\\/:") == name.npos;
  if (is_name) return LoadLibraryExW(to_wide(name).c_str(), nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (!is_absolute(name)) {
    SetLastError(ERROR_MOD_NOT_FOUND);
    return nullptr;
  }
  std::wstring path = to_wide(name);
  for (wchar_t& c : path) c = c == L'/' ? L'\\' : c;
  return LoadLibraryExW(path.c_str(), nullptr,
                        LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
}

}  // namespace

SystemPath::SystemPath(Base base, std::string_view rest) noexcept {
  std::array<wchar_t, MAX_PATH> name;
  const UINT length = GetSystemDirectoryW(name.data(), static_cast<UINT>(name.size()));
  if (length <= drive_length || length >= name.size()) return;
  const std::size_t base_length = base == Base::system_drive ? drive_length : length;
  const std::size_t used = to_utf8({name.data(), base_length}, text_);
  // Two bytes for '\' and the terminator.
  if (used == 0 || rest.size() + 2 > text_.size() - used) {
    text_[0] = '\0';
    return;
  }
  text_[used] = '\\';
  const auto end = std::copy(rest.begin(), rest.end(), text_.begin() + used + 1);
  *end = '\0';
  size_ = used + 1 + rest.size();
}

Library::OpenResult Library::open(const char* name_or_path) {
  OpenResult result;
  if (name_or_path == nullptr || *name_or_path == '\0') {
    result.error_text = "no library name";
    return result;
  }
  result.value = Library(load(name_or_path));
  if (!result) set_error(result, name_or_path, GetLastError());
  return result;
}

Library::Library(Library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Library& Library::operator=(Library&& other) noexcept {
  Library before(std::move(other));
  std::swap(handle_, before.handle_);
  return *this;
}

Library::~Library() {
  close();
}

void* Library::symbol(const char* name) const noexcept {
  if (handle_ == nullptr) return nullptr;
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

void Library::close() noexcept {
  if (handle_ != nullptr) FreeLibrary(static_cast<HMODULE>(std::exchange(handle_, nullptr)));
}

void Library::leave_open() noexcept {
  handle_ = nullptr;
}

std::string_view own_folder(std::span<char> buffer) noexcept {
  const auto* const address = reinterpret_cast<const wchar_t*>(&own_folder);
  constexpr DWORD flags =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  HMODULE file = nullptr;
  std::array<wchar_t, max_path_size> path;
  if (!GetModuleHandleExW(flags, address, &file)) return {};
  const DWORD length = GetModuleFileNameW(file, path.data(), static_cast<DWORD>(path.size()));
  if (length == 0 || length == path.size()) return {};
  const std::wstring_view full_path(path.data(), length);
  return {buffer.data(), to_utf8(full_path.substr(0, full_path.rfind(L'\\')), buffer)};
}

}  // namespace hmn::platform
