// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/child.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace hmn::cli;

namespace {

using Names = std::vector<std::string>;

// Where the word is found among these files; "" where nowhere.
std::string found(const std::string& word, const std::set<std::string>& files,
                  const Names& folders = {"C:\\windows\\system32", "D:/tools/"}) {
  const auto program =
      find_program(word, folders, [&](const std::string& path) { return files.contains(path); });
  return program ? program->path : "";
}

bool is_batch(const std::string& word) {
  const auto program =
      find_program(word, {}, [&](const std::string& path) { return path == word; });
  REQUIRE(program.has_value());
  return program->is_batch;
}

}  // namespace

TEST_CASE("program_search: the first folder that has it, with each ending in turn") {
  CHECK(found("tool", {"D:/tools/tool.exe"}) == "D:/tools/tool.exe");
  CHECK(found("tool", {"D:/tools/tool.exe", "C:\\windows\\system32\\tool.cmd"}) ==
        "C:\\windows\\system32\\tool.cmd");
  CHECK(found("tool", {"D:/tools/tool.com", "D:/tools/tool.exe"}) == "D:/tools/tool.exe");
  CHECK(found("tool.py", {"D:/tools/tool.py", "D:/tools/tool.py.exe"}) == "D:/tools/tool.py");
  CHECK(found("tool.py", {"D:/tools/tool.py.exe"}) == "D:/tools/tool.py.exe");
}

TEST_CASE("program_search: never the current folder, unless the word names a folder") {
  CHECK(found("tool", {"tool.exe", "tool"}) == "");
  CHECK(found(".\\tool", {".\\tool.exe"}) == ".\\tool.exe");
  CHECK(found("sub/tool.exe", {"sub/tool.exe", "D:/tools/sub/tool.exe"}) == "sub/tool.exe");
  CHECK(found("C:tool.exe", {"C:tool.exe"}) == "C:tool.exe");
  CHECK(found(".\\tool", {"D:/tools/tool.exe"}) == "");
}

TEST_CASE("program_search: a name without an ending is no program") {
  CHECK(found("tool", {"D:/tools/tool"}) == "");
}

TEST_CASE("program_search: what cmd.exe would read is told, however its name is written") {
  for (const char* word : {"C:\\a.bat", "C:\\a.cmd", "C:\\A.BAT", "C:\\a.Cmd"})
    CHECK(is_batch(word));
  // Windows takes dots and spaces at the end of a name away.
  for (const char* word : {"C:\\a.bat.", "C:\\a.bat ", "C:\\a.cmd. . "}) CHECK(is_batch(word));
  for (const char* word : {"C:\\a.exe", "C:\\a.bat\\b.exe", "C:\\abat.x", "C:\\a.bat.exe"})
    CHECK_FALSE(is_batch(word));
}

TEST_CASE("program_search: of PATH what is absolute, without its quotes") {
  CHECK(
      folders_of_path("C:\\a;;b;.;\"D:\\with space\";\\\\server\\share;\\rooted;C:relative;E:/x") ==
      Names{"C:\\a", "D:\\with space", "\\\\server\\share", "E:/x"});
  CHECK(folders_of_path("") == Names{});
  CHECK(folders_of_path(";") == Names{});
}
