// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/tree.hpp"

#include <doctest/doctest.h>

#include <string>

using hmn::procfs::ProcPath;

TEST_CASE("a file of a process, and others of the same") {
  ProcPath path("/proc", "12", "stat");
  CHECK(std::string(path.c_str()) == "/proc/12/stat");
  CHECK(std::string(path.to("cgroup")) == "/proc/12/cgroup");
  CHECK(std::string(path.to("")) == "/proc/12");
  CHECK(std::string(path.to("status")) == "/proc/12/status");
}

TEST_CASE("either part is empty, and a root has its own slash") {
  CHECK(std::string(ProcPath("/proc", "", "meminfo").c_str()) == "/proc/meminfo");
  CHECK(std::string(ProcPath("/proc/", "self", "statm").c_str()) == "/proc/self/statm");
  CHECK(std::string(ProcPath("/", "", "stat").to("uptime")) == "/uptime");
  CHECK(std::string(ProcPath("", "", "").c_str()).empty());
}

TEST_CASE("a path that is too long is empty, and stays so") {
  const std::string longest(4400, 'a');
  CHECK(std::string(ProcPath(longest, "12", "stat").c_str()).empty());
  ProcPath path("/proc", "12", longest);
  CHECK(std::string(path.c_str()).empty());
  CHECK(std::string(path.to("stat")).empty());
}
