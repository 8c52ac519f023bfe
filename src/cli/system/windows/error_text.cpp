// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/error_text.hpp"

#include <fmt/format.h>
#include <windows.h>

#include "platform/windows/wide.hpp"

namespace hmn::cli {

std::string error_text(std::uint32_t code) {
  wchar_t text[512];
  const auto length =
      FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, code, 0,
                     text, static_cast<DWORD>(std::size(text)), nullptr);
  std::wstring_view line(text, length);
  while (!line.empty() && (line.back() <= L' ' || line.back() == L'.')) line.remove_suffix(1);
  return line.empty() ? fmt::format("error {}", code) : platform::to_utf8(line);
}

std::string last_error_text() {
  return error_text(GetLastError());
}

}  // namespace hmn::cli
