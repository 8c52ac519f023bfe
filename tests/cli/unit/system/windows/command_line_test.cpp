// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/command_line.hpp"

#include <doctest/doctest.h>
#include <windows.h>
// After windows.h.
#include <shellapi.h>

#include "cli/system/windows/wide.hpp"

namespace {

using words = std::vector<std::string>;

words taken_apart(const std::string& line) {
  int count = 0;
  wchar_t** const all = CommandLineToArgvW(hmn::cli::to_wide(line).c_str(), &count);
  REQUIRE(all != nullptr);
  words found;
  for (int i = 0; i < count; ++i) found.push_back(hmn::cli::to_utf8(all[i]));
  LocalFree(all);
  return found;
}

}  // namespace

TEST_CASE("command_line: Windows takes the line apart into the same words") {
  const words many[] = {
      {"C:\\tool.exe"},
      {"C:\\Program Files\\a\\tool.exe", "plain", "two words", ""},
      {"tool", "a\\b\\", "a b\\", "a b\\\\", "\\", "\\\\server\\share\\"},
      {"tool", "\"", "say \"it\"", "\\\"", "a\\\\\"b", "\"\"", "end\""},
      {"tool", "tab\tin it", "line\nin it", "%PATH%", "a&b|c>d", "^", "*.txt", "'single quotes'"},
      {"tool", "größer", "名前", "😀 a b"},
  };
  for (const words& each : many) CHECK(taken_apart(hmn::cli::command_line_of(each)) == each);
}

TEST_CASE("command_line: words that need no quotes have none") {
  CHECK(hmn::cli::command_line_of({"tool", "a\\b", "c"}) == "tool a\\b c");
}
