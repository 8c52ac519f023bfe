// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/system.hpp"

#include <windows.h>

#include <algorithm>
#include <cerrno>

#include "platform/file.hpp"
#include "platform/utf16.hpp"

namespace hmn::platform {
namespace {

// A longer path, less the "8.3" name that a folder needs, requires this prefix, which in turn
// allows no forward slash.
constexpr size_t longest_plain_path = MAX_PATH - 12;
constexpr std::wstring_view long_path = L"\\\\?\\";

bool has_drive(std::wstring_view path) noexcept {
  return path.size() > 2 && path[1] == L':';
}

int wide_size(size_t utf8_size) noexcept {
  return static_cast<int>(std::min<size_t>(utf8_size, INT_MAX));
}

}  // namespace

std::wstring to_wide(std::string_view utf8) {
  std::wstring result(utf8.size(), L'\0');  // never more units than bytes
  const int size = wide_size(utf8.size());
  const int length = MultiByteToWideChar(CP_UTF8, 0, utf8.data(), size, result.data(), size);
  result.resize(static_cast<size_t>(length));
  return result;
}

std::string to_utf8(std::wstring_view wide) {
  std::string result(wide.size() * 3, '\0');
  result.resize(to_utf8(wide, result));
  return result;
}

size_t to_utf8(std::wstring_view wide, std::span<char> out) noexcept {
  return encode_utf8(wide, out);
}

WidePath::WidePath(std::string_view utf8, std::wstring_view rest) noexcept
    : error_(convert(utf8, rest)) {
  if (error_ != 0) text_[0] = L'\0';
}

int WidePath::convert(std::string_view utf8, std::wstring_view rest) noexcept {
  if (!is_absolute(utf8)) return ENOENT;
  const size_t left = text_.size() - long_path.size() - rest.size() - 1;
  wchar_t* const begin = text_.data() + long_path.size();
  const auto length = static_cast<size_t>(MultiByteToWideChar(
      CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), wide_size(utf8.size()), begin, wide_size(left)));
  if (length == 0) return GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : last_errno();
  wchar_t* const end = std::copy(rest.begin(), rest.end(), begin + length);
  *end = L'\0';
  const std::wstring_view path(begin, length + rest.size());
  if (path.size() > longest_plain_path && has_drive(path)) {
    std::copy(long_path.begin(), long_path.end(), text_.begin());
    std::replace(begin, end, L'/', L'\\');
  } else {
    std::copy(begin, end + 1, text_.begin());
  }
  return 0;
}

constexpr DWORD elevation_error = 740;  // winerror.h, ERROR_ELEVATION_REQUIRED

int translate_error(unsigned long error) noexcept {
  switch (error) {
    case ERROR_SUCCESS:
      return 0;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_NOT_READY:
    case ERROR_MOD_NOT_FOUND:
      return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case elevation_error:
    case ERROR_ACCESS_DISABLED_BY_POLICY:
      return EACCES;
    case ERROR_PRIVILEGE_NOT_HELD:
      return EPERM;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
    case ERROR_NO_SYSTEM_RESOURCES:
      return ENOMEM;
    case ERROR_TOO_MANY_OPEN_FILES:
      return EMFILE;
    case ERROR_FILENAME_EXCED_RANGE:
    case ERROR_BUFFER_OVERFLOW:
      return ENAMETOOLONG;
    case ERROR_DIRECTORY:
      return ENOTDIR;
    case ERROR_INVALID_PARAMETER:
    case ERROR_NO_UNICODE_TRANSLATION:
      return EINVAL;
    case ERROR_BAD_EXE_FORMAT:
    case ERROR_EXE_MACHINE_TYPE_MISMATCH:
      return ENOEXEC;
    case ERROR_NOT_SUPPORTED:
    case ERROR_CALL_NOT_IMPLEMENTED:
      return EOPNOTSUPP;
    default:
      return EIO;
  }
}

int last_errno() noexcept {
  return translate_error(GetLastError());
}

}  // namespace hmn::platform
