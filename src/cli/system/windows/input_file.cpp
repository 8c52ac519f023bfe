// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/input_file.hpp"

#include <fmt/format.h>
#include <windows.h>

#include <algorithm>

#include "cli/system/windows/error_text.hpp"
#include "platform/windows/handle.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::cli {
namespace {

constexpr std::uint64_t most_read = 1 << 26;  // ReadFile counts in 32 bits

failure unreadable(const std::string& path, const std::string& why) {
  return failed(fmt::format("\"{}\": {}", path, why));
}

HANDLE input_handle(std::intptr_t file) {
  return reinterpret_cast<HANDLE>(file);
}

}  // namespace

expected<input_file> input_file::open(const std::string& path) {
  platform::handle file(CreateFileW(platform::to_wide(path).c_str(), GENERIC_READ,
                                    FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file) return unreadable(path, last_error_text());
  LARGE_INTEGER size{};
  // Reject pipes and devices (CON, NUL), which are not FILE_TYPE_DISK.
  if (GetFileType(file.get()) != FILE_TYPE_DISK || GetFileSizeEx(file.get(), &size) == 0)
    return unreadable(path, "is no regular file");
  return input_file(path, reinterpret_cast<std::intptr_t>(file.release()),
                    static_cast<std::uint64_t>(size.QuadPart));
}

input_file::~input_file() {
  if (file_ != closed) CloseHandle(input_handle(file_));
}

expected<std::string> input_file::beginning(std::uint64_t most) const {
  std::string bytes(static_cast<std::size_t>(std::min(most, size_)), '\0');
  std::uint64_t done = 0;
  while (done < bytes.size()) {
    OVERLAPPED at{};
    at.Offset = static_cast<DWORD>(done);
    at.OffsetHigh = static_cast<DWORD>(done >> 32);
    const auto wanted = static_cast<DWORD>(std::min(bytes.size() - done, most_read));
    DWORD got = 0;
    if (ReadFile(input_handle(file_), bytes.data() + done, wanted, &got, &at) == 0 &&
        GetLastError() != ERROR_HANDLE_EOF)
      return unreadable(path_, last_error_text());
    if (got == 0) return unreadable(path_, "became shorter while it was read");
    done += got;
  }
  return bytes;
}

}  // namespace hmn::cli
