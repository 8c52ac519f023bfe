// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>
#include <string>

#include "platform/file.hpp"
#include "support.hpp"

using namespace hmn::platform;

namespace {

std::set<std::string> list_entries(const std::string& path) {
  std::set<std::string> names;
  const int error = for_each_entry(path.c_str(), [&](std::string_view name) {
    CHECK(name.data()[name.size()] == '\0');
    return names.emplace(name).second;
  });
  CHECK(error == 0);
  return names;
}

}  // namespace

TEST_CASE("directory: each entry is listed once, without . and ..") {
  const test::ScratchFolder scratch;
  CHECK(list_entries(scratch.path(".")).empty());
  std::set<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    // Long names: the listing takes many system calls.
    const std::string name = std::string(100, 'n') + std::to_string(i);
    scratch.write(name, "");
    expected.insert(name);
  }
  scratch.write("...", "");
  expected.insert("...");
  CHECK(list_entries(scratch.path(".")) == expected);
}

TEST_CASE("directory: a visitor can stop the listing") {
  const test::ScratchFolder scratch;
  for (const char* name : {"a", "b", "c"}) scratch.write(name, "");
  int count = 0;
  CHECK(for_each_entry(scratch.path(".").c_str(), [&](std::string_view) { return ++count < 2; }) ==
        0);
  CHECK(count == 2);
}

TEST_CASE("directory: a visitor that throws leaks no descriptor") {
  const test::ScratchFolder scratch;
  scratch.write("a", "");
  const auto before = test::open_descriptors();
  CHECK_THROWS_AS(
      for_each_entry(scratch.path(".").c_str(), [](std::string_view) -> bool { throw 1; }), int);
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("directory: a path that is not a folder is an error") {
  const test::ScratchFolder scratch;
  const auto unexpected = [](std::string_view) -> bool { throw 1; };
  CHECK(for_each_entry(scratch.write("plain", "").c_str(), unexpected) == ENOTDIR);
  CHECK(for_each_entry(scratch.path("absent").c_str(), unexpected) == ENOENT);
  CHECK(Directory::open(scratch.path("plain").c_str()).error == ENOTDIR);
  CHECK(Directory::open(scratch.path("absent").c_str()).error == ENOENT);
}

TEST_CASE("directory: files are read by name, even after the folder is moved") {
  const test::ScratchFolder scratch;
  REQUIRE(mkdir(scratch.path("card0").c_str(), 0700) == 0);
  scratch.write("card0/vendor", "0x10de\n");
  REQUIRE(symlink("../driver", scratch.path("card0/driver").c_str()) == 0);
  REQUIRE(symlink("/dev/null", scratch.path("card0/node").c_str()) == 0);
  const auto card = Directory::open(scratch.path("card0").c_str());
  REQUIRE(card.error == 0);
  REQUIRE(rename(scratch.path("card0").c_str(), scratch.path("card1").c_str()) == 0);

  char buffer[32];
  const auto vendor = card.value.read_small("vendor", buffer);
  CHECK(std::string_view(buffer, vendor.value) == "0x10de\n");
  const auto driver = card.value.read_link("driver", buffer);
  CHECK(std::string_view(buffer, driver.value) == "../driver");
  CHECK(card.value.read_status("node").value.is_character_device);
  CHECK(card.value.read_status(".").value.is_directory);
  CHECK(card.value.read_small("absent", buffer).error == ENOENT);
  std::set<std::string> names;
  CHECK(card.value.for_each_entry(
            ".", [&](std::string_view name) { return names.emplace(name).second; }) == 0);
  CHECK(names == std::set<std::string>{"driver", "node", "vendor"});
}

TEST_CASE("directory: moving transfers the descriptor, and the last owner closes it") {
  const test::ScratchFolder scratch;
  scratch.write("a", "1");
  const auto before = test::open_descriptors();
  char buffer[4];
  {
    Directory first = std::move(Directory::open(scratch.path(".").c_str()).value);
    CHECK(test::open_descriptors().size() == before.size() + 1);
    Directory second = std::move(first);
    CHECK(second.read_small("a", buffer).value == 1);
    CHECK(first.read_small("a", buffer).error == EBADF);
    second = Directory();
    CHECK(test::open_descriptors() == before);
  }
  CHECK(test::open_descriptors() == before);
}
