// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/command_line.hpp"

#include <windows.h>

#include <array>
#include <string_view>

#include "platform/windows/system.hpp"

namespace hmn::platform {
namespace {

bool needs_quotes(std::wstring_view word) {
  return word.empty() || word.find_first_of(L" \t\n\v\"") != std::wstring_view::npos;
}

// Appends the program name, which ends at its second quote: backslashes have no meaning in it.
void append_program(std::wstring& line, std::wstring_view name) {
  if (!needs_quotes(name)) {
    line += name;
  } else {
    line.append(L"\"").append(name).append(L"\"");
  }
}

// Doubles backslashes before a quote and escapes the quote ("Parsing C command-line arguments" of
// the C runtime).
void append_quoted(std::wstring& line, std::wstring_view argument) {
  if (!needs_quotes(argument)) {
    line += argument;
    return;
  }
  line += L'"';
  size_t backslashes = 0;
  for (const wchar_t c : argument) {
    if (c == L'"') line.append(backslashes + 1, L'\\');
    backslashes = c == L'\\' ? backslashes + 1 : 0;
    line += c;
  }
  line.append(backslashes, L'\\');
  line += L'"';
}

void append_variable(std::wstring& block, std::wstring_view name, std::wstring_view value) {
  block.append(name).append(L"=").append(value).append(1, L'\0');
}

}  // namespace

std::wstring join_command_line(const std::wstring& program,
                               std::span<const std::string> arguments) {
  std::wstring line;
  append_program(line, program);
  for (const std::string& argument : arguments) {
    line += L' ';
    append_quoted(line, to_wide(argument));
  }
  return line;
}

std::wstring system_folder() {
  std::array<wchar_t, MAX_PATH + 1> folder;
  const UINT length = GetSystemDirectoryW(folder.data(), static_cast<UINT>(folder.size()));
  return length < folder.size() ? std::wstring(folder.data(), length) : std::wstring();
}

// CreateProcessW requires the variables sorted by name.
std::wstring make_environment() {
  std::array<wchar_t, MAX_PATH + 1> folder;
  const UINT length = GetSystemWindowsDirectoryW(folder.data(), static_cast<UINT>(folder.size()));
  const std::wstring_view windows(folder.data(), length < folder.size() ? length : 0);
  const std::wstring_view drive = windows.substr(0, 2);
  const std::wstring programs = std::wstring(drive) + L"\\Program Files";
  std::wstring block;
  append_variable(block, L"Path", system_folder() + L';' + std::wstring(windows));
  append_variable(block, L"ProgramFiles", programs);
  append_variable(block, L"ProgramW6432", programs);
  append_variable(block, L"SystemDrive", drive);
  append_variable(block, L"SystemRoot", windows);
  append_variable(block, L"windir", windows);
  block += L'\0';
  return block;
}

}  // namespace hmn::platform
