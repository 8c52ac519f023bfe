// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "cli/system/posix/process.hpp"

using namespace hmn::cli;

TEST_CASE("this process has a pid in its own namespace") {
  CHECK(namespace_pid(static_cast<std::uint32_t>(getpid())) ==
        static_cast<std::uint32_t>(getpid()));
}

TEST_CASE("a user without a name is a number") {
  CHECK(user_name(0) == "root");
  CHECK(user_name(4'061'200'383) == "4061200383");
}
