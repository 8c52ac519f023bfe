// SPDX-License-Identifier: MIT OR Apache-2.0
//
// HV1 to HV7 are vectors of the Rust predecessor; where the result differs the list in
// docs/backends/os.md says why.
#include "backends/os/linux/status.hpp"

#include <doctest/doctest.h>

using namespace hmn::os;

TEST_CASE("HV1, HV2, HV6: VmRSS among other lines") {
  CHECK(parse_status("Name:\tcargo\nVmRSS:\t   12345 kB\nThreads:\t1\n").vm_rss.value() ==
        12'641'280);
  CHECK(parse_status("VmRSS:\t       0 kB\n").vm_rss.value() == 0);
  CHECK(
      parse_status("Name:\tcargo\nVmPeak:\t    8192 kB\nVmSize:\t    8192 kB\nVmLck:\t       0 kB\n"
                   "VmRSS:\t    4096 kB\n")
          .vm_rss.value() == 4'194'304);
}

TEST_CASE("HV4: without a VmRSS line it is missing") {
  CHECK(parse_status("Name:\tcargo\nThreads:\t1\n").vm_rss.what == amount::is::missing);
}

TEST_CASE("HV5: a VmRSS that is no number is malformed") {
  CHECK(parse_status("VmRSS:\tnot_a_number kB\n").vm_rss.what == amount::is::malformed);
}

TEST_CASE("HV3, HV7: a unit is read, never assumed") {
  CHECK(parse_status("VmRSS:\t   42\n").vm_rss.what == amount::is::malformed);
  CHECK(parse_status("VmRSS: 12 kB kB\n").vm_rss.what == amount::is::malformed);
  CHECK(parse_status(" VmRSS: 7 kB\n").vm_rss.what == amount::is::missing);
  CHECK(parse_status("VmRSS:7kB\n").vm_rss.what == amount::is::malformed);
  CHECK(parse_status("VmRSS: 1 kB\nVmRSS: 2 kB\n").vm_rss.value() == 1024);
}

TEST_CASE("the other memory lines") {
  const status_memory m = parse_status("VmSize:\t 10 kB\nVmHWM:\t 20 kB\nVmSwap:\t 30 kB\n");
  CHECK(m.vm_size.value() == 10240);
  CHECK(m.vm_hwm.value() == 20480);
  CHECK(m.vm_swap.value() == 30720);
  CHECK_FALSE(m.vm_rss.value());
}
