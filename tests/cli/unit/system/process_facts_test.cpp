// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_facts.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "cli/system/linux/namespace_pids.hpp"
#include "cli/system/posix/user_name.hpp"

using namespace hmn::cli;

using pids = std::vector<std::uint32_t>;

TEST_CASE("a pid in each namespace, from the outermost inwards") {
  CHECK(parse_namespace_pids("Name:\tx\nNStgid:\t9\t1\nNSpid:\t26235\t1\nNSpgid:\t8\t1\n") ==
        pids{26235, 1});
  CHECK(parse_namespace_pids("NSpid:  2578 24 25\n") == pids{2578, 24, 25});
  CHECK(parse_namespace_pids("NSpid:\t7") == pids{7});
}

TEST_CASE("a kernel without the line, or a line that is none") {
  CHECK(parse_namespace_pids("Name:\tx\n").empty());
  CHECK(parse_namespace_pids("").empty());
  CHECK(parse_namespace_pids("NSpid:\n").empty());
  CHECK(parse_namespace_pids("NSpid:\t12x\t1\n").empty());
  CHECK(parse_namespace_pids("NSpid:\t4294967296\n").empty());
  CHECK(parse_namespace_pids("Name:\tNSpid:\t7\n").empty());
}

TEST_CASE("this process has a pid in its own namespace") {
  CHECK(namespace_pid(static_cast<std::uint32_t>(getpid())) ==
        static_cast<std::uint32_t>(getpid()));
}

TEST_CASE("a user without a name is a number") {
  CHECK(user_name(0) == "root");
  CHECK(user_name(4'061'200'383) == "4061200383");
}
