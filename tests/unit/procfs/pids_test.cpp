// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/tree.hpp"

#include <doctest/doctest.h>

using namespace hmn::procfs;

using List = std::vector<std::uint32_t>;

TEST_CASE("the name of a process' folder") {
  CHECK(PidName(7).view() == "7");
  CHECK(PidName(4294967295).view() == "4294967295");
  CHECK(parse_pid("4294967295") == 4294967295);
  for (const char* other : {"", "0", "self", "7x", "-1", "+1", "4294967296"})
    CHECK_FALSE(parse_pid(other));
}

TEST_CASE("pids that blanks or lines separate") {
  CHECK(parse_pids("") == List{});
  CHECK(parse_pids("12 13 \n") == List{12, 13});
  CHECK(parse_pids("12\n13\n") == List{12, 13});
  CHECK(parse_pids("0 x -1 4294967296 5") == List{5});
}
