// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/new_file.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  explicit draft(const std::wstring& path) {
    const owner_only mine;
    for (unsigned i = 0; i < most_names && !is_open(); ++i) {
      name_ = path + platform::to_wide(fmt::format(".{}-{}", GetCurrentProcessId(), i));
      file_ =
          platform::handle(CreateFileW(name_.c_str(), GENERIC_WRITE | DELETE, 0, mine.attributes(),
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

failure refusal(const std::string& path, DWORD error) {
  if (error == ERROR_FILE_EXISTS || error == ERROR_ALREADY_EXISTS)
    return failed(fmt::format("\"{}\" is there already; --force replaces it", path));
  return failed(fmt::format("\"{}\": {}", path, error_text(error)));
}

}  // namespace

std::optional<failure> why_not_new(const std::string& path, bool may_replace) {
  constexpr DWORD others =
      FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DEVICE;
  const DWORD found = GetFileAttributesW(platform::to_wide(path).c_str());
  if (found == INVALID_FILE_ATTRIBUTES) return std::nullopt;
  if ((found & others) != 0) {
    const bool is_folder = (found & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return failed(fmt::format("\"{}\" is {}: only a regular file is replaced", path,
                              is_folder ? "a folder" : "a link or a device"));
  }
  return may_replace ? std::nullopt : std::optional(refusal(path, ERROR_FILE_EXISTS));
}

std::optional<failure> write_new_file(const std::string& path, std::string_view text,
                                      bool may_replace, readers) {
  if (auto refused = why_not_new(path, may_replace)) return refused;
  const auto wide = platform::to_wide(path);
  draft made(wide);
  const bool done = made.is_open() && made.write(text) && made.become(wide, may_replace);
  return done ? std::nullopt : std::optional(refusal(path, GetLastError()));
}

}  // namespace hmn::cli
