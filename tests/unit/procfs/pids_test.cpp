// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/tree.hpp"

#include <doctest/doctest.h>

using namespace hmn::procfs;

using Pids = std::vector<std::uint32_t>;

TEST_CASE("the name of a process folder is its pid") {
  CHECK(PidName(7).view() == "7");
  CHECK(PidName(4294967295).view() == "4294967295");
  CHECK(parse_pid("4294967295") == 4294967295);
  for (const char* text : {"", "0", "self", "7x", "-1", "+1", "4294967296"})
    CHECK_FALSE(parse_pid(text));
}

TEST_CASE("pids are separated by blanks or line ends") {
  CHECK(parse_pids("") == Pids{});
  CHECK(parse_pids("12 13 \n") == Pids{12, 13});
  CHECK(parse_pids("12\n13\n") == Pids{12, 13});
  CHECK(parse_pids("0 x -1 4294967296 5") == Pids{5});
}
