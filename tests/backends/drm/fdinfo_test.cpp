// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::drm;

namespace {

const Region& region_named(const Fdinfo& of, std::string_view name) {
  for (const Region& r : of.regions()) {
    if (r.name == name) return r;
  }
  static const Region none;
  return none;
}

const Engine& engine_named(const Fdinfo& of, std::string_view name) {
  for (const Engine& e : of.engines()) {
    if (e.name == name) return e;
  }
  static const Engine none;
  return none;
}

}  // namespace

TEST_CASE("amounts have the kernel's units or none") {
  CHECK(parse_amount("0") == 0u);
  CHECK(parse_amount("1234") == 1234u);
  CHECK(parse_amount("12 KiB") == 12u * 1024);
  CHECK(parse_amount(" \t12 kB ") == 12u * 1024);
  CHECK(parse_amount("16 MiB") == 16u * 1024 * 1024);
  CHECK(parse_amount("2 GiB") == 2ULL << 30);
  for (const char* other : {"", "KiB", "12 KB", "12 jobs", "12KiB", "-1 KiB", "1.5 MiB", "12 KiB x",
                            "0x10", "18446744073709551615 KiB", "18446744073709551616"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_amount(other));
  }
}

TEST_CASE("units are mixed within one file") {
  const auto info = parse_fdinfo(
      "pos:\t0\ndrm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"
      "drm-total-vram0:\t16 MiB\ndrm-resident-vram0:\t1234 KiB\ndrm-shared-vram0:\t0\n");
  REQUIRE(info);
  CHECK(info->driver == "xe");
  CHECK(info->client_id == 7u);
  CHECK(info->pci_address == "0000:03:00.0");
  CHECK(region_named(*info, "vram0").total == 16u << 20);
  CHECK(region_named(*info, "vram0").resident == 1234u << 10);
  CHECK(region_named(*info, "vram0").shared == 0u);
  CHECK_FALSE(region_named(*info, "vram0").memory);
  CHECK(region_named(*info, "vram0").backed() == 1234u << 10);
}

TEST_CASE("drm-memory is an older name of resident") {
  const auto old = parse_fdinfo("drm-driver: amdgpu\ndrm-memory-vram: 5 KiB\n");
  CHECK(region_named(*old, "vram").backed() == 5u << 10);
  const auto both =
      parse_fdinfo("drm-driver: amdgpu\ndrm-memory-vram: 5 KiB\ndrm-resident-vram: 6 KiB\n");
  CHECK(region_named(*both, "vram").backed() == 6u << 10);
}

TEST_CASE("engines, their capacities and clocks are no memory") {
  const auto info = parse_fdinfo(
      "drm-driver:\txe\ndrm-engine-video:\t12 ns\ndrm-engine-capacity-video:\t2\n"
      "drm-cycles-rcs:\t5\ndrm-total-cycles-rcs:\t90\ndrm-maxfreq-rcs:\t800 MHz\n"
      "drm-curfreq-rcs:\t799999987 Hz\ndrm-engine-capacity-copy:\t0\n");
  REQUIRE(info);
  CHECK(info->regions().empty());
  CHECK(info->engines().size() == 3);
  CHECK(engine_named(*info, "video").busy_ns == 12u);
  CHECK(engine_named(*info, "video").capacity == 2);
  CHECK(engine_named(*info, "copy").capacity == 1);
  CHECK(engine_named(*info, "rcs").cycles == 5u);
  CHECK(engine_named(*info, "rcs").total_cycles == 90u);
  CHECK(engine_named(*info, "capacity-video").name.empty());
}

TEST_CASE("amdgpu before it had the common keys") {
  const auto info = parse_fdinfo(
      "pos:\t0\npdev:\t0000:03:00.0\npasid:\t32769\nvram mem:\t1024 kB\ngtt mem:\t64 kB\n"
      "cpu mem:\t0 kB\ngfx0:\t12.34%\n");
  REQUIRE(info);
  CHECK(info->driver == "amdgpu");
  CHECK(info->pci_address == "0000:03:00.0");
  CHECK(info->pasid == 32769u);
  CHECK_FALSE(info->client_id);
  CHECK(region_named(*info, "vram").backed() == 1u << 20);
  CHECK(region_named(*info, "gtt").backed() == 64u << 10);
  CHECK(info->engines().empty());
}

TEST_CASE("a driver's own keys are read on request and never merged") {
  const auto info = parse_fdinfo(
      "drm-driver:\tamdgpu\namd-evicted-vram:\t4 KiB\namd-evicted-vram-x:\t9\n"
      "panthor-resident-memory:\t10396 KiB\n");
  CHECK(info->regions().empty());
  CHECK(amount_of(info->text, "amd-evicted-vram") == 4096u);
  CHECK_FALSE(amount_of(info->text, "amd-evicted"));
  CHECK_FALSE(amount_of(info->text, "evicted-vram"));
  CHECK(amount_of(info->text, "panthor-resident-memory") == 10396u << 10);
}

TEST_CASE("what is not of a DRM client") {
  for (const char* other :
       {"", "\n", "pos:\t0\nflags:\t02\n", "size:\t32768\ncount:\t2\nexp_name:\tsystem-heap\n",
        "drm-driver:\t\n", "drm-driver:\tcut", "vram mem:\t12 kB\n", "pdev:\t0000:03:00.0\n"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_fdinfo(other));
  }
}

TEST_CASE("a line that was cut does not count, and broken values are absent") {
  const auto info = parse_fdinfo(
      "drm-driver:\tv3d\nno colon\n:\ndrm-total-memory:\tmany\ndrm-engine-bin:\t12\n"
      "drm-client-id:\t-1\ndrm-total-memory:\t3 KiB\ndrm-resident-memory:\t12");
  REQUIRE(info);
  CHECK_FALSE(info->client_id);
  CHECK(region_named(*info, "memory").total == 3u << 10);
  CHECK_FALSE(region_named(*info, "memory").resident);
  CHECK_FALSE(engine_named(*info, "bin").busy_ns);
}

TEST_CASE("more regions and engines than there is room for") {
  std::string text = "drm-driver:\tx\n";
  for (int i = 0; i < 20; ++i) {
    text +=
        "drm-total-r" + std::to_string(i) + ":\t1\ndrm-engine-e" + std::to_string(i) + ":\t1 ns\n";
  }
  const auto info = parse_fdinfo(text);
  CHECK(info->is_partial);
  CHECK(info->regions().size() == 16);
  CHECK(info->engines().size() == 16);
}
