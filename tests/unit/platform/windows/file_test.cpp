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
class ScratchFolder {
 public:
  ScratchFolder() {
    std::array<wchar_t, MAX_PATH + 1> temporary;
    GetTempPathW(static_cast<DWORD>(temporary.size()), temporary.data());
    path_ = std::wstring(temporary.data()) + L"hmn-\u00E9\U0001F4BB-" +
            std::to_wstring(GetCurrentProcessId());
    CreateDirectoryW(path_.c_str(), nullptr);
  }
  ~ScratchFolder() {
    for (const std::wstring& file : files_) DeleteFileW(file.c_str());
    RemoveDirectoryW(path_.c_str());
  }
  std::string write(const char* name, std::string_view text) {
    files_.push_back(path_ + L"\\" + to_wide(name));
    const Handle file(CreateFileW(files_.back().c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                                  FILE_ATTRIBUTE_NORMAL, nullptr));
    DWORD written_bytes = 0;
    WriteFile(file.get(), text.data(), static_cast<DWORD>(text.size()), &written_bytes, nullptr);
    return path(name);
  }
  std::string path(const char* name) const { return to_utf8(path_) + "\\" + name; }
  std::string folder() const { return to_utf8(path_); }

 private:
  std::wstring path_;
  std::vector<std::wstring> files_;
};

}  // namespace

TEST_CASE("file: an absolute path has a drive or a server") {
  for (const char* path : {"C:\\a", "c:/a", "\\\\server\\share", "\\\\?\\C:\\a", "Z:\\"}) {
    INFO(path);
    CHECK(is_absolute(path));
  }
  for (const char* path : {"", "a", "\\a", "/proc/self", "C:a", "C:", "1:\\a", ".\\a"}) {
    INFO(path);
    CHECK_FALSE(is_absolute(path));
  }
}

TEST_CASE("file: contents are read whole, or cut and reported as cut") {
  ScratchFolder folder;
  const std::string file = folder.write("\xE2\x82\xAC.txt", "0123456789");
  std::array<char, 16> buffer;
  const auto small = read_small(file.c_str(), buffer);
  CHECK(std::string_view(buffer.data(), small.value) == "0123456789");
  std::string out;
  CHECK_FALSE(read_whole(file.c_str(), out, 10).value);
  CHECK(out == "0123456789");
  CHECK(read_whole(file.c_str(), out, 9).value);
  CHECK(out == "012345678");
  const std::string long_text(100'000, 'a');
  const std::string large = folder.write("large", long_text);
  CHECK(read_whole(large.c_str(), out, 1U << 20).error == 0);
  CHECK(out == long_text);
}

TEST_CASE("file: errors of a read are distinguished") {
  ScratchFolder folder;
  std::array<char, 16> buffer;
  CHECK(read_small(folder.path("absent").c_str(), buffer).error == ENOENT);
  CHECK(read_small(folder.folder().c_str(), buffer).error == EISDIR);
  CHECK(read_small("/proc/self/statm", buffer).error == ENOENT);
  CHECK(read_small("a\xFF", buffer).error == ENOENT);
  std::string out = "before";
  CHECK(read_whole(folder.path("absent").c_str(), out, 10).error == ENOENT);
  CHECK(out.empty());
}

TEST_CASE("file: a file that is open elsewhere is still read") {
  ScratchFolder folder;
  const std::string file = folder.write("held", "text");
  const Handle open_handle(CreateFileW(to_wide(file).c_str(), GENERIC_READ | GENERIC_WRITE,
                                       FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING,
                                       0, nullptr));
  REQUIRE(open_handle);
  std::array<char, 16> buffer;
  CHECK(read_small(file.c_str(), buffer).value == 4);
}

TEST_CASE("file: status distinguishes files from folders, and one file from another") {
  ScratchFolder folder;
  const std::string first_path = folder.write("one", "12345");
  const std::string second_path = folder.write("two", "");
  const auto first = read_status(first_path.c_str());
  REQUIRE(first);
  CHECK(first.value.size == 5);
  CHECK_FALSE(first.value.is_directory);
  CHECK(read_status(folder.folder().c_str()).value.is_directory);
  CHECK(first.value.inode != read_status(second_path.c_str()).value.inode);
  CHECK(read_status(folder.path("absent").c_str()).error == ENOENT);
}

TEST_CASE("file: a program ends in .exe and is not a folder") {
  ScratchFolder folder;
  CHECK(is_executable_file(folder.write("a.exe", "MZ").c_str()));
  CHECK(is_executable_file(folder.write("B.EXE", "MZ").c_str()));
  CHECK_FALSE(is_executable_file(folder.write("a.bat", "@echo off").c_str()));
  CHECK_FALSE(is_executable_file(folder.path("absent.exe").c_str()));
  CHECK_FALSE(is_executable_file(folder.folder().c_str()));
}

TEST_CASE("file: the entries of a folder are listed by their UTF-8 names") {
  ScratchFolder folder;
  folder.write("\xE2\x82\xAC", "");
  folder.write("plain", "");
  std::vector<std::string> names;
  const auto collect = [&](std::string_view name) {
    names.emplace_back(name);
    return true;
  };
  CHECK(for_each_entry(folder.folder().c_str(), collect) == 0);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"plain", "\xE2\x82\xAC"});
  CHECK(for_each_entry(folder.path("absent").c_str(), collect) == ENOENT);

  const auto directory = Directory::open(folder.folder().c_str());
  REQUIRE(directory);
  names.clear();
  CHECK(directory.value.for_each_entry([&](std::string_view name) {
    names.emplace_back(name);
    return false;
  }) == 0);
  CHECK(names.size() == 1);
  CHECK(directory.value.read_status("plain").value.size == 0);
  CHECK(Directory::open(folder.path("plain").c_str()).error == ENOTDIR);
}
