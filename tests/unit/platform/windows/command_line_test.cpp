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

using CommandWords = std::vector<std::string>;

std::wstring build_line(const CommandWords& words) {
  return join_command_line(to_wide(words.front()), std::span(words).subspan(1));
}

CommandWords split_line(const std::wstring& line) {
  int count = 0;
  wchar_t** const arguments = CommandLineToArgvW(line.c_str(), &count);
  REQUIRE(arguments != nullptr);
  CommandWords words;
  for (int i = 0; i < count; ++i) words.push_back(to_utf8(std::wstring_view(arguments[i])));
  LocalFree(arguments);
  return words;
}

}  // namespace

TEST_CASE("command_line: Windows splits the line into the same words") {
  const CommandWords cases[] = {
      {"C:\\tool.exe"},
      {"C:\\Program Files\\a\\tool.exe", "plain", "two words", ""},
      {"tool", "a\\b\\", "a b\\", "a b\\\\", "\\", "\\\\server\\share\\"},
      {"tool", "\"", "say \"it\"", "\\\"", "a\\\\\"b", "\"\"", "end\""},
      {"tool", "tab\tin it", "line\nin it", "%PATH%", "a&b|c>d", "^", "*.txt", "'single quotes'"},
      {"tool", "größer", "名前", "😀 a b"},
  };
  for (const CommandWords& words : cases) CHECK(split_line(build_line(words)) == words);
}

TEST_CASE("command_line: words that need no quotes are not quoted") {
  CHECK(build_line({"tool", "a\\b", "c"}) == L"tool a\\b c");
}

TEST_CASE("command_line: quotes and the backslashes before them are escaped") {
  const std::vector<std::string> arguments{"plain",  "two words", "say \"x\"",
                                           "ends\\", "\\\\\"",    ""};
  CHECK(join_command_line(L"C:\\a b.exe", arguments) ==
        L"\"C:\\a b.exe\" plain \"two words\" \"say \\\"x\\\"\" ends\\ \"\\\\\\\\\\\"\" "
        L"\"\"");
}

TEST_CASE("command_line: the environment is a sorted block that ends with two zeros") {
  const std::wstring block = make_environment();
  REQUIRE(block.size() > 2);
  CHECK(block.substr(block.size() - 2) == std::wstring(2, L'\0'));
  CHECK(block.starts_with(L"Path=C:\\"));
  CHECK(block.find(L"SystemRoot=C:\\windows") != block.npos);
}
