// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/streams.hpp"

#include <windows.h>

#include <algorithm>

#include "cli/system/windows/file.hpp"
#include "platform/windows/system.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t most_of_console = 8192;  // per write: a console refuses very long ones

bool is_console(HANDLE to) noexcept {
  DWORD mode = 0;
  return GetConsoleMode(to, &mode) != 0;
}

WriteEnd failed_end() noexcept {
  const auto code = GetLastError();
  const bool gone =
      code == ERROR_BROKEN_PIPE || code == ERROR_NO_DATA || code == ERROR_PIPE_NOT_CONNECTED;
  return {gone ? WriteEnd::Reason::reader_gone : WriteEnd::Reason::failed, static_cast<int>(code)};
}

// Writes UTF-16, so that the console's code page, shared with the command, is unchanged.
WriteEnd write_to_console(HANDLE to, std::string_view text) {
  const auto wide = platform::to_wide(text);
  for (std::wstring_view rest = wide; !rest.empty();) {
    DWORD written = 0;
    auto length = std::min(rest.size(), most_of_console);
    const bool splits_pair = length < rest.size() && (rest[length] & 0xFC00) == 0xDC00;
    if (splits_pair) --length;
    if (WriteConsoleW(to, rest.data(), static_cast<DWORD>(length), &written, nullptr) == 0)
      return failed_end();
    rest.remove_prefix(written);
  }
  return {};
}

WriteEnd write_to_file(HANDLE to, std::string_view text) noexcept {
  while (!text.empty()) {
    DWORD written = 0;
    const auto length = static_cast<DWORD>(std::min<std::size_t>(text.size(), 1 << 20));
    if (WriteFile(to, text.data(), length, &written, nullptr) == 0) return failed_end();
    text.remove_prefix(written);
  }
  return {};
}

}  // namespace

// Does not reserve handles: they are not allocated by number.
void prepare_streams() noexcept {
  // Report a missing disk as an error instead of in a dialog.
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX);
}

// A driver's library has a C library of its own here: what it prints is left alone.
int output_descriptor() noexcept {
  return 1;
}

WriteEnd write_stream(Stream to, std::string_view text) {
  const auto file = GetStdHandle(to == Stream::output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
  if (file == nullptr || file == INVALID_HANDLE_VALUE)
    return {WriteEnd::Reason::failed, ERROR_INVALID_HANDLE};
  return is_console(file) ? write_to_console(file, text) : write_to_file(file, text);
}

std::string message_of(const WriteEnd& end) {
  return error_text(static_cast<std::uint32_t>(end.code));
}

}  // namespace hmn::cli
