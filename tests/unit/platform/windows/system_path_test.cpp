// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/library.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <string>

using hmn::platform::SystemPath;

namespace {

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

// The tests expect Windows in its usual folder.
TEST_CASE("system_path: paths start at the system folder or the system drive") {
  CHECK(to_lower(SystemPath(SystemPath::Base::system_folder, "").view()) ==
        "c:\\windows\\system32\\");
  CHECK(to_lower(SystemPath(SystemPath::Base::system_folder, "a.exe").c_str()) ==
        "c:\\windows\\system32\\a.exe");
  CHECK(to_lower(SystemPath(SystemPath::Base::system_drive, "a b\\c\\").view()) == "c:\\a b\\c\\");
}

TEST_CASE("system_path: a path that does not fit is empty") {
  const SystemPath too_long(SystemPath::Base::system_drive, std::string(2000, 'a'));
  CHECK(too_long.view().empty());
  CHECK(*too_long.c_str() == '\0');
}

TEST_CASE("system_path: the environment does not affect system paths") {
  wchar_t before[MAX_PATH] = L"";
  GetEnvironmentVariableW(L"SystemRoot", before, MAX_PATH);
  SetEnvironmentVariableW(L"SystemRoot", L"D:\\elsewhere");
  const SystemPath folder(SystemPath::Base::system_folder, "");
  SetEnvironmentVariableW(L"SystemRoot", before);
  CHECK(to_lower(folder.view()) == "c:\\windows\\system32\\");
}
