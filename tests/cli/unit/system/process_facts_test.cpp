// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "cli/system/posix/process.hpp"

using namespace hmn::cli;

TEST_CASE("this process has the same pid in its own namespace") {
  CHECK(find_namespace_pid(static_cast<std::uint32_t>(getpid())) ==
        static_cast<std::uint32_t>(getpid()));
}

TEST_CASE("a user without a name is shown by number") {
  CHECK(find_user_name(0) == "root");
  CHECK(find_user_name(4'061'200'383) == "4061200383");
}
