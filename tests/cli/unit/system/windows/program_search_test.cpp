// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/child.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace hmn::cli;

namespace {

using Paths = std::vector<std::string>;

// Returns the path of the word among these files, "" if there is none.
std::string find_path(const std::string& word, const std::set<std::string>& files,
                      const Paths& folders = {"C:\\windows\\system32", "D:/tools/"}) {
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

TEST_CASE("program_search: the first folder wins, and endings are tried in order") {
  CHECK(find_path("tool", {"D:/tools/tool.exe"}) == "D:/tools/tool.exe");
  CHECK(find_path("tool", {"D:/tools/tool.exe", "C:\\windows\\system32\\tool.cmd"}) ==
        "C:\\windows\\system32\\tool.cmd");
  CHECK(find_path("tool", {"D:/tools/tool.com", "D:/tools/tool.exe"}) == "D:/tools/tool.exe");
  CHECK(find_path("tool.py", {"D:/tools/tool.py", "D:/tools/tool.py.exe"}) == "D:/tools/tool.py");
  CHECK(find_path("tool.py", {"D:/tools/tool.py.exe"}) == "D:/tools/tool.py.exe");
}

TEST_CASE("program_search: the current folder is searched only if the word names a folder") {
  CHECK(find_path("tool", {"tool.exe", "tool"}) == "");
  CHECK(find_path(".\\tool", {".\\tool.exe"}) == ".\\tool.exe");
  CHECK(find_path("sub/tool.exe", {"sub/tool.exe", "D:/tools/sub/tool.exe"}) == "sub/tool.exe");
  CHECK(find_path("C:tool.exe", {"C:tool.exe"}) == "C:tool.exe");
  CHECK(find_path(".\\tool", {"D:/tools/tool.exe"}) == "");
}

TEST_CASE("program_search: a file without an ending is not a program") {
  CHECK(find_path("tool", {"D:/tools/tool"}) == "");
}

TEST_CASE("program_search: batch files are recognised, however their name is written") {
  for (const char* word : {"C:\\a.bat", "C:\\a.cmd", "C:\\A.BAT", "C:\\a.Cmd"})
    CHECK(is_batch(word));
  // Windows removes dots and spaces at the end of a name.
  for (const char* word : {"C:\\a.bat.", "C:\\a.bat ", "C:\\a.cmd. . "}) CHECK(is_batch(word));
  for (const char* word : {"C:\\a.exe", "C:\\a.bat\\b.exe", "C:\\abat.x", "C:\\a.bat.exe"})
    CHECK_FALSE(is_batch(word));
}

TEST_CASE("program_search: only absolute folders of PATH are used, without their quotes") {
  CHECK(list_path_folders(
            "C:\\a;;b;.;\"D:\\with space\";\\\\server\\share;\\rooted;C:relative;E:/x") ==
        Paths{"C:\\a", "D:\\with space", "\\\\server\\share", "E:/x"});
  CHECK(list_path_folders("") == Paths{});
  CHECK(list_path_folders(";") == Paths{});
}
