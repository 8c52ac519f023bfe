// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/streams.hpp"

#include <windows.h>

#include <algorithm>

#include "cli/system/windows/file.hpp"
#include "platform/windows/system.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t max_console_write = 8192;  // per write: a console refuses very long ones

bool is_console(HANDLE handle) noexcept {
  DWORD mode = 0;
  return GetConsoleMode(handle, &mode) != 0;
}

WriteOutcome failed_outcome() noexcept {
  const auto code = GetLastError();
  const bool is_reader_gone =
      code == ERROR_BROKEN_PIPE || code == ERROR_NO_DATA || code == ERROR_PIPE_NOT_CONNECTED;
  return {is_reader_gone ? WriteOutcome::Reason::reader_gone : WriteOutcome::Reason::failed,
          static_cast<int>(code)};
}

// Writes UTF-16, so that the console's code page, shared with the command, is unchanged.
WriteOutcome write_to_console(HANDLE console, std::string_view text) {
  const auto wide = platform::to_wide(text);
  for (std::wstring_view rest = wide; !rest.empty();) {
    DWORD written = 0;
    auto length = std::min(rest.size(), max_console_write);
    const bool splits_pair = length < rest.size() && (rest[length] & 0xFC00) == 0xDC00;
    if (splits_pair) --length;
    if (WriteConsoleW(console, rest.data(), static_cast<DWORD>(length), &written, nullptr) == 0)
      return failed_outcome();
    rest.remove_prefix(written);
  }
  return {};
}

WriteOutcome write_to_file(HANDLE file, std::string_view text) noexcept {
  while (!text.empty()) {
    DWORD written = 0;
    const auto length = static_cast<DWORD>(std::min<std::size_t>(text.size(), 1 << 20));
    if (WriteFile(file, text.data(), length, &written, nullptr) == 0) return failed_outcome();
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

WriteOutcome write_stream(Stream stream, std::string_view text) {
  const auto file = GetStdHandle(stream == Stream::output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
  if (file == nullptr || file == INVALID_HANDLE_VALUE)
    return {WriteOutcome::Reason::failed, ERROR_INVALID_HANDLE};
  return is_console(file) ? write_to_console(file, text) : write_to_file(file, text);
}

std::string format_write_error(const WriteOutcome& outcome) {
  return error_text(static_cast<std::uint32_t>(outcome.code));
}

}  // namespace hmn::cli
