// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/output_file.hpp"

#include <windows.h>

#include <algorithm>

#include "cli/system/windows/error_text.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t most_written = 1 << 26;  // WriteFile counts in 32 bits

HANDLE handle_of(std::intptr_t file) {
  return reinterpret_cast<HANDLE>(file);
}

}  // namespace

// Opens without inheritance by the command.
output_file::output_file(const std::string& path)
    : file_(reinterpret_cast<std::intptr_t>(CreateFileW(
          platform::to_wide(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
          nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr))) {
  if (handle_of(file_) == INVALID_HANDLE_VALUE) why_ = last_error_text();
}

output_file::~output_file() {
  if (handle_of(file_) != INVALID_HANDLE_VALUE) CloseHandle(handle_of(file_));
}

void output_file::write(std::string_view text) {
  // Fails for what is no regular file, which has no length.
  if (is_good() && !is_begun_) SetEndOfFile(handle_of(file_));
  is_begun_ = true;
  while (is_good() && !text.empty()) {
    DWORD written = 0;
    const auto length = static_cast<DWORD>(std::min(text.size(), most_written));
    if (WriteFile(handle_of(file_), text.data(), length, &written, nullptr) == 0)
      why_ = last_error_text();
    text.remove_prefix(written);
  }
}

}  // namespace hmn::cli
