// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The format of Documentation/admin-guide/cgroup-v2.rst, "DMEM".
#include "backends/dmem/survey.hpp"

#include <doctest/doctest.h>

using namespace hmn;
using namespace hmn::dmem;

TEST_CASE("a line is a region and its bytes") {
  const auto region = parse_region("drm/0000:03:00.0/vram0 8514437120");
  REQUIRE(region);
  CHECK(region->device == "0000:03:00.0");
  CHECK(region->name == "vram0");
  CHECK_FALSE(region->is_unlimited);
  CHECK(region->bytes == 8514437120);
  CHECK(parse_region("drm/0000:03:00.0/stolen max")->is_unlimited);
}

TEST_CASE("a malformed line is rejected") {
  for (const char* const line :
       {"", "drm/", "drm/0000:03:00.0 1", "drm/0000:03:00.0/ 1", "drm//vram0 1",
        "drm/0000:03:00.0/vram0", "drm/0000:03:00.0/vram0 -1", "drm/0000:03:00.0/vram0 1 kB",
        "drm/0000:03:00.0/vram0 18446744073709551616", "npu/0000:03:00.0/vram0 1"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_region(line));
  }
}

TEST_CASE("region names map to pool kinds") {
  CHECK(classify_region("vram") == PoolKind::vram);
  CHECK(classify_region("vram1") == PoolKind::vram);
  CHECK(classify_region("stolen") == PoolKind::stolen);
  CHECK(classify_region("gtt") == PoolKind::host);
  CHECK(classify_region("else") == PoolKind::main);
}

TEST_CASE("regions of one kind are added up per device") {
  const char* const text =
      "drm/0000:03:00.0/vram0 1000\ndrm/0000:03:00.0/vram1 200\ndrm/0000:03:00.0/stolen max\n"
      "drm/0000:04:00.0/vram0 7\n";
  CHECK(sum_regions(text, "0000:03:00.0", {PoolKind::vram}) == 1200);
  CHECK(sum_regions(text, "00000000:03:00.0", {PoolKind::vram}) == 1200);
  CHECK(sum_regions(text, "0000:04:00.0", {PoolKind::vram}) == 7);
  CHECK_FALSE(sum_regions(text, "0000:03:00.0", {PoolKind::stolen}));
  CHECK_FALSE(sum_regions(text, "0001:03:00.0", {PoolKind::vram}));
  CHECK_FALSE(sum_regions(text, "", {PoolKind::vram}));
}

TEST_CASE("dmem: a part of the VRAM is the region of its tile") {
  constexpr std::string_view text =
      "drm/0000:03:00.0/vram0 1000\ndrm/0000:03:00.0/vram1 max\ndrm/0000:03:00.0/stolen 5\n";
  CHECK(sum_regions(text, "0000:03:00.0", {PoolKind::vram, 1}) == 1000);
  CHECK_FALSE(sum_regions(text, "0000:03:00.0", {PoolKind::vram, 2}));
  CHECK_FALSE(sum_regions(text, "0000:03:00.0", {PoolKind::vram, 3}));
  CHECK_FALSE(sum_regions(text, "0000:03:00.0", {PoolKind::stolen, 1}));
}

TEST_CASE("if one tile has no limit, the device has none") {
  CHECK_FALSE(sum_regions("drm/0000:03:00.0/vram0 1\ndrm/0000:03:00.0/vram1 max\n", "0000:03:00.0",
                          {PoolKind::vram}));
}

TEST_CASE("a malformed line voids the sum; regions of another subsystem are ignored") {
  CHECK_FALSE(sum_regions("drm/0000:03:00.0/vram0 1\ndrm/0000:03:00.0/vr\n", "0000:03:00.0",
                          {PoolKind::vram}));
  CHECK(sum_regions("npu/x/vram0 none\ndrm/0000:03:00.0/vram0 1", "0000:03:00.0",
                    {PoolKind::vram}) == 1);
  CHECK_FALSE(sum_regions("drm/0000:03:00.0/vram0 18446744073709551615\ndrm/0000:03:00.0/vram1 1\n",
                          "0000:03:00.0", {PoolKind::vram}));
}
