// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/smaps_rollup.hpp"

#include <doctest/doctest.h>

using namespace hmn::os;

TEST_CASE("proportional and private set") {
  const smaps_rollup r = parse_smaps_rollup(
      "00100000-ff709000 ---p 00000000 00:00 0    [rollup]\n"
      "Rss:                 884 kB\nPss:                 385 kB\nPss_Anon:            301 kB\n"
      "Private_Clean:       120 kB\nPrivate_Dirty:        68 kB\nPrivate_Hugetlb:    2048 kB\n");
  CHECK(r.pss.value() == 385 * 1024);
  CHECK(r.unique().value() == 188 * 1024);
}

TEST_CASE("a private set with a part missing or malformed is none") {
  CHECK(parse_smaps_rollup("Private_Clean: 1 kB\n").unique().what == amount::is::missing);
  CHECK(parse_smaps_rollup("Private_Dirty: 1 kB\n").unique().what == amount::is::missing);
  CHECK(parse_smaps_rollup("Private_Clean: 1 MB\nPrivate_Dirty: 1 kB\n").unique().what ==
        amount::is::malformed);
  CHECK(parse_smaps_rollup("Private_Clean: 18014398509481983 kB\nPrivate_Dirty: 1 kB\n")
            .unique()
            .what == amount::is::malformed);
}
