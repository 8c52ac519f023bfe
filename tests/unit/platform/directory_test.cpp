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

std::set<std::string> entries_of(const std::string& path) {
  std::set<std::string> found;
  const int error = for_each_entry(path.c_str(), [&](std::string_view name) {
    CHECK(name.data()[name.size()] == '\0');
    return found.emplace(name).second;
  });
  CHECK(error == 0);
  return found;
}

}  // namespace

TEST_CASE("directory: each entry comes once, itself and its parent do not") {
  const test::ScratchFolder scratch;
  CHECK(entries_of(scratch.path(".")).empty());
  std::set<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    // Long names: the listing takes many system calls.
    const std::string name = std::string(100, 'n') + std::to_string(i);
    scratch.write(name, "");
    expected.insert(name);
  }
  scratch.write("...", "");
  expected.insert("...");
  CHECK(entries_of(scratch.path(".")) == expected);
}

TEST_CASE("directory: a visitor stops the walk") {
  const test::ScratchFolder scratch;
  for (const char* name : {"a", "b", "c"}) scratch.write(name, "");
  int seen = 0;
  CHECK(for_each_entry(scratch.path(".").c_str(), [&](std::string_view) { return ++seen < 2; }) ==
        0);
  CHECK(seen == 2);
}

TEST_CASE("directory: a visitor that throws leaves no descriptor") {
  const test::ScratchFolder scratch;
  scratch.write("a", "");
  const auto before = test::open_descriptors();
  CHECK_THROWS_AS(
      for_each_entry(scratch.path(".").c_str(), [](std::string_view) -> bool { throw 1; }), int);
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("directory: what is not a folder is an error") {
  const test::ScratchFolder scratch;
  const auto never = [](std::string_view) -> bool { throw 1; };
  CHECK(for_each_entry(scratch.write("plain", "").c_str(), never) == ENOTDIR);
  CHECK(for_each_entry(scratch.path("absent").c_str(), never) == ENOENT);
  CHECK(Directory::open(scratch.path("plain").c_str()).error == ENOTDIR);
  CHECK(Directory::open(scratch.path("absent").c_str()).error == ENOENT);
}

TEST_CASE("directory: reads by name, and goes on after the folder is moved") {
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
  CHECK(card.value.status_of("node").value.is_character_device);
  CHECK(card.value.status_of(".").value.is_directory);
  CHECK(card.value.read_small("absent", buffer).error == ENOENT);
  std::set<std::string> found;
  CHECK(card.value.for_each_entry(
            ".", [&](std::string_view name) { return found.emplace(name).second; }) == 0);
  CHECK(found == std::set<std::string>{"driver", "node", "vendor"});
}

TEST_CASE("directory: moving hands the descriptor over, and the last owner closes it") {
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
