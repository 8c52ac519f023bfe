// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/command_text.hpp"

#include <algorithm>
#include <memory>

#include "backends/os/windows/query_process.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::os {
namespace {

// UNICODE_STRING, with the text behind it.
struct counted_string {
  USHORT bytes;
  USHORT capacity;
  const wchar_t* text;
};

constexpr ULONG process_command_line = 60;  // since Windows 8.1
constexpr ULONG most_bytes = 65536 + sizeof(counted_string);
constexpr std::size_t longest = 4096;  // characters that are kept

}  // namespace

std::string command_text(HANDLE process) {
  ULONG needed = 0;
  query_process(process, process_command_line, nullptr, 0, &needed);
  if (needed < sizeof(counted_string) || needed > most_bytes) return {};
  const auto room = std::make_unique<counted_string[]>(needed / sizeof(counted_string) + 1);
  if (!query_process(process, process_command_line, room.get(), needed, nullptr)) return {};
  const counted_string& found = room[0];
  if (found.text == nullptr) return {};
  const std::wstring_view text(found.text, found.bytes / sizeof(wchar_t));
  return platform::to_utf8(text.substr(0, longest));
}

}  // namespace hmn::os
