// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/file.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "platform/windows/system.hpp"
#include "support.hpp"

using namespace hmn::platform;

namespace {

// A folder of its own, with a name that no code page has.
class Scratch {
 public:
  Scratch() {
    std::array<wchar_t, MAX_PATH + 1> temporary;
    GetTempPathW(static_cast<DWORD>(temporary.size()), temporary.data());
    path_ = std::wstring(temporary.data()) + L"hmn-\u00E9\U0001F4BB-" +
            std::to_wstring(GetCurrentProcessId());
    CreateDirectoryW(path_.c_str(), nullptr);
  }
  ~Scratch() {
    for (const std::wstring& file : files_) DeleteFileW(file.c_str());
    RemoveDirectoryW(path_.c_str());
  }
  std::string write(const char* name, std::string_view text) {
    files_.push_back(path_ + L"\\" + to_wide(name));
    const Handle file(CreateFileW(files_.back().c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                                  FILE_ATTRIBUTE_NORMAL, nullptr));
    DWORD written = 0;
    WriteFile(file.get(), text.data(), static_cast<DWORD>(text.size()), &written, nullptr);
    return path(name);
  }
  std::string path(const char* name) const { return to_utf8(path_) + "\\" + name; }
  std::string folder() const { return to_utf8(path_); }

 private:
  std::wstring path_;
  std::vector<std::wstring> files_;
};

}  // namespace

TEST_CASE("file: a path is absolute with a drive or a server") {
  for (const char* path : {"C:\\a", "c:/a", "\\\\server\\share", "\\\\?\\C:\\a", "Z:\\"}) {
    INFO(path);
    CHECK(is_absolute(path));
  }
  for (const char* path : {"", "a", "\\a", "/proc/self", "C:a", "C:", "1:\\a", ".\\a"}) {
    INFO(path);
    CHECK_FALSE(is_absolute(path));
  }
}

TEST_CASE("file: contents come whole, or a beginning with a remark") {
  Scratch s;
  const std::string file = s.write("\xE2\x82\xAC.txt", "0123456789");
  std::array<char, 16> buffer;
  const auto small = read_small(file.c_str(), buffer);
  CHECK(std::string_view(buffer.data(), small.value) == "0123456789");
  std::string out;
  CHECK_FALSE(read_whole(file.c_str(), out, 10).value);
  CHECK(out == "0123456789");
  CHECK(read_whole(file.c_str(), out, 9).value);
  CHECK(out == "012345678");
  const std::string long_text(100'000, 'a');
  const std::string large = s.write("large", long_text);
  CHECK(read_whole(large.c_str(), out, 1U << 20).error == 0);
  CHECK(out == long_text);
}

TEST_CASE("file: what cannot be read is told apart") {
  Scratch s;
  std::array<char, 16> buffer;
  CHECK(read_small(s.path("absent").c_str(), buffer).error == ENOENT);
  CHECK(read_small(s.folder().c_str(), buffer).error == EISDIR);
  CHECK(read_small("/proc/self/statm", buffer).error == ENOENT);
  CHECK(read_small("a\xFF", buffer).error == ENOENT);
  std::string out = "before";
  CHECK(read_whole(s.path("absent").c_str(), out, 10).error == ENOENT);
  CHECK(out.empty());
}

TEST_CASE("file: one that another holds open is still read") {
  Scratch s;
  const std::string file = s.write("held", "text");
  const Handle held(CreateFileW(to_wide(file).c_str(), GENERIC_READ | GENERIC_WRITE,
                                FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0,
                                nullptr));
  REQUIRE(held);
  std::array<char, 16> buffer;
  CHECK(read_small(file.c_str(), buffer).value == 4);
}

TEST_CASE("file: status tells files and folders, and one file from another") {
  Scratch s;
  const std::string one = s.write("one", "12345");
  const std::string two = s.write("two", "");
  const auto first = status_of(one.c_str());
  REQUIRE(first);
  CHECK(first.value.size == 5);
  CHECK_FALSE(first.value.is_directory);
  CHECK(status_of(s.folder().c_str()).value.is_directory);
  CHECK(first.value.inode != status_of(two.c_str()).value.inode);
  CHECK(status_of(s.path("absent").c_str()).error == ENOENT);
}

TEST_CASE("file: a program ends in .exe and is no folder") {
  Scratch s;
  CHECK(is_executable_file(s.write("a.exe", "MZ").c_str()));
  CHECK(is_executable_file(s.write("B.EXE", "MZ").c_str()));
  CHECK_FALSE(is_executable_file(s.write("a.bat", "@echo off").c_str()));
  CHECK_FALSE(is_executable_file(s.path("absent.exe").c_str()));
  CHECK_FALSE(is_executable_file(s.folder().c_str()));
}

TEST_CASE("file: the entries of a folder, by their names in UTF-8") {
  Scratch s;
  s.write("\xE2\x82\xAC", "");
  s.write("plain", "");
  std::vector<std::string> names;
  const auto keep = [&](std::string_view name) {
    names.emplace_back(name);
    return true;
  };
  CHECK(for_each_entry(s.folder().c_str(), keep) == 0);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"plain", "\xE2\x82\xAC"});
  CHECK(for_each_entry(s.path("absent").c_str(), keep) == ENOENT);

  const auto d = Directory::open(s.folder().c_str());
  REQUIRE(d);
  names.clear();
  CHECK(d.value.for_each_entry([&](std::string_view name) {
    names.emplace_back(name);
    return false;
  }) == 0);
  CHECK(names.size() == 1);
  CHECK(d.value.status_of("plain").value.size == 0);
  CHECK(Directory::open(s.path("plain").c_str()).error == ENOTDIR);
}
