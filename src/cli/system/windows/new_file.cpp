// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/new_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/system/output_file.hpp"
#include "cli/system/windows/error_text.hpp"
#include "cli/system/windows/token_user.hpp"
#include "platform/windows/handle.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::cli {
namespace {

constexpr unsigned most_names = 100;

// Temporary file in the same folder as the result; removed on failure.
class draft {
 public:
  draft(const std::wstring& path, readers allowed) {
    const owner_only mine;
    for (unsigned i = 0; i < most_names && !is_open(); ++i) {
      name_ = path + platform::to_wide(fmt::format(".{}-{}", GetCurrentProcessId(), i));
      file_ = platform::handle(CreateFileW(name_.c_str(), GENERIC_WRITE | DELETE, 0,
                                           allowed == readers::owner ? mine.attributes() : nullptr,
                                           CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
      if (!is_open() && GetLastError() != ERROR_FILE_EXISTS) return;
    }
  }
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;
  ~draft() {
    if (!is_open()) return;
    file_.close();
    DeleteFileW(name_.c_str());
  }

  bool is_open() const { return static_cast<bool>(file_); }

  bool write(std::string_view text) const {
    while (!text.empty()) {
      DWORD written = 0;
      const auto length = static_cast<DWORD>(std::min<std::size_t>(text.size(), 1 << 26));
      if (WriteFile(file_.get(), text.data(), length, &written, nullptr) == 0) return false;
      text.remove_prefix(written);
    }
    return FlushFileBuffers(file_.get()) != 0;
  }

  bool become(const std::wstring& path, bool may_replace) {
    file_.close();
    // Keeps the security descriptor of the file that it replaces.
    if (may_replace && ReplaceFileW(path.c_str(), name_.c_str(), nullptr, 0, nullptr, nullptr) != 0)
      return true;
    const bool is_new = !may_replace || GetLastError() == ERROR_FILE_NOT_FOUND;
    if (is_new && MoveFileExW(name_.c_str(), path.c_str(), MOVEFILE_WRITE_THROUGH) != 0)
      return true;
    const auto error = GetLastError();
    DeleteFileW(name_.c_str());
    SetLastError(error);
    return false;
  }

 private:
  std::wstring name_;
  platform::handle file_;
};

failure not_written(const file_to_write& to, DWORD error) {
  if (error == ERROR_FILE_EXISTS || error == ERROR_ALREADY_EXISTS)
    return is_there_already(to, to.path);
  return failed_at(to.path, error_text(error));
}

// Returns whether it is no file on a disk, as NUL and a named pipe are not.
bool is_device(const std::wstring& path) {
  const platform::handle file(CreateFileW(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                          nullptr, OPEN_EXISTING, 0, nullptr));
  return file && GetFileType(file.get()) != FILE_TYPE_DISK;
}

// Returns whether a folder, or its file system, lets no other file take the place of one.
bool keeps_file(DWORD error) {
  constexpr DWORD all[] = {ERROR_ACCESS_DENIED, ERROR_NOT_SUPPORTED,
                           ERROR_UNABLE_TO_REMOVE_REPLACED, ERROR_UNABLE_TO_MOVE_REPLACEMENT};
  return std::find(std::begin(all), std::end(all), error) != std::end(all);
}

// Writes a file itself, and so all that is no file on a disk.
std::optional<failure> write_in_place(const file_to_write& to, std::string_view text) {
  output_file file(to.path);
  file.write(text);
  return file.is_good() ? std::nullopt : std::optional(failed_at(to.path, file.why()));
}

}  // namespace

std::optional<failure> why_not_writable(const file_to_write& to) {
  if (to.path == "-") return std::nullopt;
  const auto path = platform::to_wide(to.path);
  const DWORD found = GetFileAttributesW(path.c_str());
  const DWORD error = GetLastError();
  if (is_device(path)) return std::nullopt;
  if (found == INVALID_FILE_ATTRIBUTES)
    return error == ERROR_FILE_NOT_FOUND ? std::nullopt : std::optional(not_written(to, error));
  if ((found & FILE_ATTRIBUTE_DIRECTORY) != 0) return failed_at(to.path, "is a folder");
  if ((found & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return failed_at(to.path, "is a link");
  if (!to.may_replace(to.path)) return is_there_already(to, to.path);
  if ((found & FILE_ATTRIBUTE_READONLY) != 0 && !to.force)
    return not_written(to, ERROR_ACCESS_DENIED);
  return std::nullopt;
}

std::optional<failure> write_file(const file_to_write& to, std::string_view text, readers allowed) {
  if (auto refused = why_not_writable(to)) return refused;
  if (to.path == "-") return write_to_stream(stream::output, text);
  const auto path = platform::to_wide(to.path);
  if (is_device(path)) return write_in_place(to, text);
  DWORD error = 0;
  {
    draft made(path, allowed);
    if (made.is_open() && made.write(text) && made.become(path, to.may_replace(to.path)))
      return std::nullopt;
    error = GetLastError();
  }
  if (to.may_replace(to.path) && keeps_file(error)) return write_in_place(to, text);
  return not_written(to, error);
}

}  // namespace hmn::cli
