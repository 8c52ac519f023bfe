// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/library.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <utility>

#include "support.hpp"

using namespace hmn::platform;

namespace {

constexpr const wchar_t* probe_name = L"hmn_platform_probe.dll";
constexpr const char* probe_file = "hmn_platform_probe.dll";
using ProbeFunction = int (*)();

}  // namespace

TEST_CASE("library: a symbol is found in a library opened by its absolute path") {
  auto opened = Library::open(test::path_in_own_folder(probe_file).c_str());
  INFO(opened.error_text);
  REQUIRE(opened);
  void* const symbol = opened.value.symbol("hmn_platform_probe");
  REQUIRE(symbol != nullptr);
  CHECK(reinterpret_cast<ProbeFunction>(symbol)() == 4711);
  CHECK(opened.value.symbol("hmn_platform_absent") == nullptr);
}

TEST_CASE("library: a library next to the program or in the current folder is not loaded") {
  REQUIRE(Library::open(test::path_in_own_folder(probe_file).c_str()));
  const auto planted = Library::open(probe_file);
  CHECK_FALSE(planted);
  CHECK(planted.error_text.find("hmn_platform_probe.dll") != std::string::npos);
  CHECK(planted.error_text.find("126") != std::string::npos);
  const std::string folder = test::path_in_own_folder("");
  REQUIRE(SetCurrentDirectoryA(folder.c_str()));
  CHECK_FALSE(Library::open(probe_file));
  CHECK_FALSE(Library::open(".\\hmn_platform_probe.dll"));
}

TEST_CASE("library: a system library is found by its name") {
  auto opened = Library::open("kernel32.dll");
  REQUIRE(opened);
  CHECK(opened.value.symbol("GetTickCount64") != nullptr);
}

TEST_CASE("library: an empty name opens neither a library nor the program itself") {
  CHECK_FALSE(Library::open(nullptr));
  CHECK_FALSE(Library::open("").error_text.empty());
  CHECK(Library().symbol("malloc") == nullptr);
}

TEST_CASE("library: the last owner unloads the library unless it is left open") {
  REQUIRE(GetModuleHandleW(probe_name) == nullptr);
  {
    Library first = std::move(Library::open(test::path_in_own_folder(probe_file).c_str()).value);
    const Library second = std::move(first);
    CHECK(GetModuleHandleW(probe_name) != nullptr);
  }
  CHECK(GetModuleHandleW(probe_name) == nullptr);
  Library::open(test::path_in_own_folder(probe_file).c_str()).value.leave_open();
  CHECK(GetModuleHandleW(probe_name) != nullptr);
  FreeLibrary(GetModuleHandleW(probe_name));
}

TEST_CASE("library: the own folder is that of the program") {
  const std::string path = test::path_in_own_folder("hmn_platform_test.exe");
  CHECK(GetFileAttributesA(path.c_str()) != INVALID_FILE_ATTRIBUTES);
}
