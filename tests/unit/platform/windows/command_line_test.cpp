// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/command_line.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace hmn::platform;

TEST_CASE("command_line: quotes and the backslashes in front of them are escaped") {
  const std::vector<std::string> arguments{"plain",  "two words", "say \"x\"",
                                           "ends\\", "\\\\\"",    ""};
  CHECK(command_line(L"C:\\a b.exe", arguments) ==
        L"\"C:\\a b.exe\" \"plain\" \"two words\" \"say \\\"x\\\"\" \"ends\\\\\" \"\\\\\\\\\\\"\" "
        L"\"\"");
}

TEST_CASE("command_line: the environment is a block of sorted names that two zeros end") {
  const std::wstring block = fixed_environment();
  REQUIRE(block.size() > 2);
  CHECK(block.substr(block.size() - 2) == std::wstring(2, L'\0'));
  CHECK(block.starts_with(L"Path=C:\\"));
  CHECK(block.find(L"SystemRoot=C:\\windows") != block.npos);
}
