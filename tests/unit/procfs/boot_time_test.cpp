// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/boot.hpp"

#include <doctest/doctest.h>

using hmn::procfs::parse_boot_time;

TEST_CASE("the boot time is read from its own line") {
  CHECK(parse_boot_time("cpu 1 2\nintr 5 btime 7\nctxt 3\nbtime 1700000000\nprocesses 4\n") ==
        1'700'000'000);
  CHECK_FALSE(parse_boot_time("btime\n"));
  CHECK_FALSE(parse_boot_time("btime x\n"));
  CHECK_FALSE(parse_boot_time(""));
}
