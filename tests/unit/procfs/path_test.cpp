// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/tree.hpp"

#include <doctest/doctest.h>

#include <string>

using hmn::procfs::ProcPath;

TEST_CASE("a path names a file of a process and can switch to another file") {
  ProcPath path("/proc", "12", "stat");
  CHECK(std::string(path.c_str()) == "/proc/12/stat");
  CHECK(std::string(path.set_file("cgroup")) == "/proc/12/cgroup");
  CHECK(std::string(path.set_file("")) == "/proc/12");
  CHECK(std::string(path.set_file("status")) == "/proc/12/status");
}

TEST_CASE("either part of a path may be empty, and a root may end in a slash") {
  CHECK(std::string(ProcPath("/proc", "", "meminfo").c_str()) == "/proc/meminfo");
  CHECK(std::string(ProcPath("/proc/", "self", "statm").c_str()) == "/proc/self/statm");
  CHECK(std::string(ProcPath("/", "", "stat").set_file("uptime")) == "/uptime");
  CHECK(std::string(ProcPath("", "", "").c_str()).empty());
}

TEST_CASE("a path that is too long is empty and stays empty") {
  const std::string longest(4400, 'a');
  CHECK(std::string(ProcPath(longest, "12", "stat").c_str()).empty());
  ProcPath path("/proc", "12", longest);
  CHECK(std::string(path.c_str()).empty());
  CHECK(std::string(path.set_file("stat")).empty());
}
