// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/windows/library.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <string>

using hmn::platform::SystemPlace;

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

// Windows of the tests lies where it usually does.
TEST_CASE("system_place: paths below the system's folder and its drive") {
  CHECK(lower(SystemPlace(SystemPlace::Below::system_folder, "").view()) ==
        "c:\\windows\\system32\\");
  CHECK(lower(SystemPlace(SystemPlace::Below::system_folder, "a.exe").c_str()) ==
        "c:\\windows\\system32\\a.exe");
  CHECK(lower(SystemPlace(SystemPlace::Below::system_drive, "a b\\c\\").view()) == "c:\\a b\\c\\");
}

TEST_CASE("system_place: what does not fit is no path") {
  const SystemPlace long_one(SystemPlace::Below::system_drive, std::string(2000, 'a'));
  CHECK(long_one.view().empty());
  CHECK(*long_one.c_str() == '\0');
}

TEST_CASE("system_place: the environment has no say") {
  wchar_t before[MAX_PATH] = L"";
  GetEnvironmentVariableW(L"SystemRoot", before, MAX_PATH);
  SetEnvironmentVariableW(L"SystemRoot", L"D:\\elsewhere");
  const SystemPlace there(SystemPlace::Below::system_folder, "");
  SetEnvironmentVariableW(L"SystemRoot", before);
  CHECK(lower(there.view()) == "c:\\windows\\system32\\");
}
