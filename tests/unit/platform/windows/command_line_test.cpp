// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/command_line.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <vector>

#include "platform/windows/system.hpp"
// After windows.h.
#include <shellapi.h>

using namespace hmn::platform;

namespace {

using Words = std::vector<std::string>;

std::wstring line_of(const Words& all) {
  return command_line(to_wide(all.front()), std::span(all).subspan(1));
}

Words taken_apart(const std::wstring& line) {
  int count = 0;
  wchar_t** const all = CommandLineToArgvW(line.c_str(), &count);
  REQUIRE(all != nullptr);
  Words found;
  for (int i = 0; i < count; ++i) found.push_back(to_utf8(std::wstring_view(all[i])));
  LocalFree(all);
  return found;
}

}  // namespace

TEST_CASE("command_line: Windows takes the line apart into the same words") {
  const Words many[] = {
      {"C:\\tool.exe"},
      {"C:\\Program Files\\a\\tool.exe", "plain", "two words", ""},
      {"tool", "a\\b\\", "a b\\", "a b\\\\", "\\", "\\\\server\\share\\"},
      {"tool", "\"", "say \"it\"", "\\\"", "a\\\\\"b", "\"\"", "end\""},
      {"tool", "tab\tin it", "line\nin it", "%PATH%", "a&b|c>d", "^", "*.txt", "'single quotes'"},
      {"tool", "größer", "名前", "😀 a b"},
  };
  for (const Words& each : many) CHECK(taken_apart(line_of(each)) == each);
}

TEST_CASE("command_line: words that need no quotes have none") {
  CHECK(line_of({"tool", "a\\b", "c"}) == L"tool a\\b c");
}

TEST_CASE("command_line: quotes and the backslashes in front of them are escaped") {
  const std::vector<std::string> arguments{"plain",  "two words", "say \"x\"",
                                           "ends\\", "\\\\\"",    ""};
  CHECK(command_line(L"C:\\a b.exe", arguments) ==
        L"\"C:\\a b.exe\" plain \"two words\" \"say \\\"x\\\"\" ends\\ \"\\\\\\\\\\\"\" "
        L"\"\"");
}

TEST_CASE("command_line: the environment is a block of sorted names that two zeros end") {
  const std::wstring block = fixed_environment();
  REQUIRE(block.size() > 2);
  CHECK(block.substr(block.size() - 2) == std::wstring(2, L'\0'));
  CHECK(block.starts_with(L"Path=C:\\"));
  CHECK(block.find(L"SystemRoot=C:\\windows") != block.npos);
}
