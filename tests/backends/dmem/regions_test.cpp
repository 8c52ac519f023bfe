// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The format of Documentation/admin-guide/cgroup-v2.rst, "DMEM".
#include "backends/dmem/survey.hpp"

#include <doctest/doctest.h>

using namespace hmn;
using namespace hmn::dmem;

TEST_CASE("a line is a region and its bytes") {
  const auto r = parse_region("drm/0000:03:00.0/vram0 8514437120");
  REQUIRE(r);
  CHECK(r->device == "0000:03:00.0");
  CHECK(r->name == "vram0");
  CHECK_FALSE(r->is_unlimited);
  CHECK(r->bytes == 8514437120);
  CHECK(parse_region("drm/0000:03:00.0/stolen max")->is_unlimited);
}

TEST_CASE("what is no such line") {
  for (const char* const line :
       {"", "drm/", "drm/0000:03:00.0 1", "drm/0000:03:00.0/ 1", "drm//vram0 1",
        "drm/0000:03:00.0/vram0", "drm/0000:03:00.0/vram0 -1", "drm/0000:03:00.0/vram0 1 kB",
        "drm/0000:03:00.0/vram0 18446744073709551616", "npu/0000:03:00.0/vram0 1"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_region(line));
  }
}

TEST_CASE("regions are those of pools") {
  CHECK(kind_of("vram") == PoolKind::vram);
  CHECK(kind_of("vram1") == PoolKind::vram);
  CHECK(kind_of("stolen") == PoolKind::stolen);
  CHECK(kind_of("gtt") == PoolKind::host);
  CHECK(kind_of("else") == PoolKind::main);
}

TEST_CASE("a device's regions of a kind add up") {
  const char* const text =
      "drm/0000:03:00.0/vram0 1000\ndrm/0000:03:00.0/vram1 200\ndrm/0000:03:00.0/stolen max\n"
      "drm/0000:04:00.0/vram0 7\n";
  CHECK(sum_of(text, "0000:03:00.0", {PoolKind::vram}) == 1200);
  CHECK(sum_of(text, "00000000:03:00.0", {PoolKind::vram}) == 1200);
  CHECK(sum_of(text, "0000:04:00.0", {PoolKind::vram}) == 7);
  CHECK_FALSE(sum_of(text, "0000:03:00.0", {PoolKind::stolen}));
  CHECK_FALSE(sum_of(text, "0001:03:00.0", {PoolKind::vram}));
  CHECK_FALSE(sum_of(text, "", {PoolKind::vram}));
}

TEST_CASE("dmem: a part of the VRAM is the region of its tile") {
  constexpr std::string_view text =
      "drm/0000:03:00.0/vram0 1000\ndrm/0000:03:00.0/vram1 max\ndrm/0000:03:00.0/stolen 5\n";
  CHECK(sum_of(text, "0000:03:00.0", {PoolKind::vram, 1}) == 1000);
  CHECK_FALSE(sum_of(text, "0000:03:00.0", {PoolKind::vram, 2}));
  CHECK_FALSE(sum_of(text, "0000:03:00.0", {PoolKind::vram, 3}));
  CHECK_FALSE(sum_of(text, "0000:03:00.0", {PoolKind::stolen, 1}));
}

TEST_CASE("one tile without a limit leaves the device without one") {
  CHECK_FALSE(sum_of("drm/0000:03:00.0/vram0 1\ndrm/0000:03:00.0/vram1 max\n", "0000:03:00.0",
                     {PoolKind::vram}));
}

TEST_CASE("what makes no sense is no sum; another subsystem's regions are passed over") {
  CHECK_FALSE(
      sum_of("drm/0000:03:00.0/vram0 1\ndrm/0000:03:00.0/vr\n", "0000:03:00.0", {PoolKind::vram}));
  CHECK(sum_of("npu/x/vram0 none\ndrm/0000:03:00.0/vram0 1", "0000:03:00.0", {PoolKind::vram}) ==
        1);
  CHECK_FALSE(sum_of("drm/0000:03:00.0/vram0 18446744073709551615\ndrm/0000:03:00.0/vram1 1\n",
                     "0000:03:00.0", {PoolKind::vram}));
}
