// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "platform/clock.hpp"
#include "support.hpp"

using namespace hmn::platform;

namespace {

std::string read_small_text(const char* path, size_t size) {
  std::string buffer(size, '?');
  const auto result = read_small(path, buffer);
  REQUIRE(result.error == 0);
  buffer.resize(result.value);
  return buffer;
}

}  // namespace

TEST_CASE("file: a small read returns the text, or as much as the buffer holds") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "MemTotal: 16 kB\n");
  CHECK(read_small_text(path.c_str(), 64) == "MemTotal: 16 kB\n");
  CHECK(read_small_text(path.c_str(), 16) == "MemTotal: 16 kB\n");
  CHECK(read_small_text(path.c_str(), 8) == "MemTotal");
  CHECK(read_small_text(path.c_str(), 0).empty());
  CHECK(read_small_text(scratch.write("empty", "").c_str(), 8).empty());
}

TEST_CASE("file: a small read joins the pieces that the kernel returns" *
          doctest::skip(access("/proc/self/smaps", R_OK) != 0)) {
  // seq_file hands out smaps a page at a time.
  const std::string text = read_small_text("/proc/self/smaps", size_t{1} << 22);
  CHECK(text.size() > 8192);
  CHECK(text.rfind("VmFlags:") != std::string::npos);
  CHECK(text.ends_with('\n'));
}

TEST_CASE("file: a failure is the system's error number and leaks no descriptor") {
  const test::ScratchFolder scratch;
  char buffer[16];
  const auto before = test::open_descriptors();
  CHECK(read_small(scratch.path("absent").c_str(), buffer).error == ENOENT);
  CHECK(read_small(scratch.path(".").c_str(), buffer).error == EISDIR);
  CHECK(read_small("", buffer).error == ENOENT);
  std::string whole = "before";
  CHECK(read_whole(scratch.path(".").c_str(), whole, 100).error == EISDIR);
  CHECK(whole.empty());
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("file: a read of a FIFO without a writer does not block") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.path("fifo");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  char buffer[16];
  const uint64_t start = monotonic_ns();
  const auto result = read_small(path.c_str(), buffer);
  CHECK(result.error == 0);
  CHECK(result.value == 0);
  CHECK(monotonic_ns() - start < 60 * ns_per_second);
}

TEST_CASE("file: a whole read reports that it was cut") {
  const test::ScratchFolder scratch;
  const std::string text(100'000, 'x');
  const std::string path = scratch.write("text", text);
  std::string out = "before";

  const auto whole = read_whole(path.c_str(), out, 1'000'000);
  CHECK(whole.error == 0);
  CHECK_FALSE(whole.value);
  CHECK(out == text);

  const auto exact = read_whole(path.c_str(), out, text.size());
  CHECK_FALSE(exact.value);
  CHECK(out == text);

  const auto cut = read_whole(path.c_str(), out, text.size() - 1);
  CHECK(cut.error == 0);
  CHECK(cut.value);
  CHECK(out == text.substr(1));

  const auto empty = read_whole(path.c_str(), out, 0);
  CHECK(empty.value);
  CHECK(out.empty());
}

TEST_CASE("file: the target of a link is returned whole or not at all") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.path("link");
  REQUIRE(symlink("0000:01:00.0", path.c_str()) == 0);
  char buffer[13];
  const auto result = read_link(path.c_str(), buffer);
  REQUIRE(result.error == 0);
  CHECK(std::string_view(buffer, result.value) == "0000:01:00.0");
  CHECK(read_link(path.c_str(), std::span(buffer).first(12)).error == ENAMETOOLONG);
  CHECK(read_link(path.c_str(), {}).error == ENAMETOOLONG);
  CHECK(read_link(scratch.write("plain", "").c_str(), buffer).error == EINVAL);
}

TEST_CASE("file: status reports devices, folders and owners") {
  const test::ScratchFolder scratch;
  const auto null_device = read_status("/dev/null");
  REQUIRE(null_device.error == 0);
  CHECK(null_device.value.is_character_device);
  CHECK_FALSE(null_device.value.is_directory);
  // Documentation/admin-guide/devices.txt
  CHECK(null_device.value.special_device_major == 1);
  CHECK(null_device.value.special_device_minor == 3);

  const std::string path = scratch.write("text", "x");
  struct stat expected {};
  REQUIRE(stat(path.c_str(), &expected) == 0);
  const auto plain = read_status(path.c_str());
  REQUIRE(plain.error == 0);
  CHECK(plain.value.device == expected.st_dev);
  CHECK(plain.value.inode == expected.st_ino);
  CHECK(plain.value.owner == expected.st_uid);
  CHECK_FALSE(plain.value.is_character_device);
  CHECK(read_status(scratch.path(".").c_str()).value.is_directory);
  CHECK(read_status(scratch.path("absent").c_str()).error == ENOENT);
}

TEST_CASE("file: an existing file need not be executable") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("program", "#!/bin/sh\n");
  CHECK(exists(path.c_str()));
  CHECK_FALSE(is_executable_file(path.c_str()));
  REQUIRE(chmod(path.c_str(), 0755) == 0);
  CHECK(is_executable_file(path.c_str()));
  CHECK(exists(scratch.path(".").c_str()));
  CHECK_FALSE(is_executable_file(scratch.path(".").c_str()));
  CHECK_FALSE(exists(scratch.path("absent").c_str()));
  CHECK_FALSE(is_executable_file(scratch.path("absent").c_str()));
}
