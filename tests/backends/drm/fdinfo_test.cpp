// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::drm;

namespace {

const Region& find_region(const Fdinfo& info, std::string_view name) {
  for (const Region& region : info.regions()) {
    if (region.name == name) return region;
  }
  static const Region none;
  return none;
}

const Engine& find_engine(const Fdinfo& info, std::string_view name) {
  for (const Engine& engine : info.engines()) {
    if (engine.name == name) return engine;
  }
  static const Engine none;
  return none;
}

}  // namespace

TEST_CASE("an amount has a unit of the kernel or none") {
  CHECK(parse_amount("0") == 0u);
  CHECK(parse_amount("1234") == 1234u);
  CHECK(parse_amount("12 KiB") == 12u * 1024);
  CHECK(parse_amount(" \t12 kB ") == 12u * 1024);
  CHECK(parse_amount("16 MiB") == 16u * 1024 * 1024);
  CHECK(parse_amount("2 GiB") == 2ULL << 30);
  for (const char* text : {"", "KiB", "12 KB", "12 jobs", "12KiB", "-1 KiB", "1.5 MiB", "12 KiB x",
                           "0x10", "18446744073709551615 KiB", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_amount(text));
  }
}

TEST_CASE("units may differ within one file") {
  const auto info = parse_fdinfo(
      "pos:\t0\ndrm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"
      "drm-total-vram0:\t16 MiB\ndrm-resident-vram0:\t1234 KiB\ndrm-shared-vram0:\t0\n");
  REQUIRE(info);
  CHECK(info->driver == "xe");
  CHECK(info->client_id == 7u);
  CHECK(info->pci_address == "0000:03:00.0");
  CHECK(find_region(*info, "vram0").total == 16u << 20);
  CHECK(find_region(*info, "vram0").resident == 1234u << 10);
  CHECK(find_region(*info, "vram0").shared == 0u);
  CHECK_FALSE(find_region(*info, "vram0").memory);
  CHECK(find_region(*info, "vram0").backed() == 1234u << 10);
}

TEST_CASE("drm-memory is an older name for drm-resident") {
  const auto old = parse_fdinfo("drm-driver: amdgpu\ndrm-memory-vram: 5 KiB\n");
  CHECK(find_region(*old, "vram").backed() == 5u << 10);
  const auto combined =
      parse_fdinfo("drm-driver: amdgpu\ndrm-memory-vram: 5 KiB\ndrm-resident-vram: 6 KiB\n");
  CHECK(find_region(*combined, "vram").backed() == 6u << 10);
}

TEST_CASE("engines, capacities and clocks are not memory") {
  const auto info = parse_fdinfo(
      "drm-driver:\txe\ndrm-engine-video:\t12 ns\ndrm-engine-capacity-video:\t2\n"
      "drm-cycles-rcs:\t5\ndrm-total-cycles-rcs:\t90\ndrm-maxfreq-rcs:\t800 MHz\n"
      "drm-curfreq-rcs:\t799999987 Hz\ndrm-engine-capacity-copy:\t0\n");
  REQUIRE(info);
  CHECK(info->regions().empty());
  CHECK(info->engines().size() == 3);
  CHECK(find_engine(*info, "video").busy_ns == 12u);
  CHECK(find_engine(*info, "video").capacity == 2);
  CHECK(find_engine(*info, "copy").capacity == 1);
  CHECK(find_engine(*info, "rcs").cycles == 5u);
  CHECK(find_engine(*info, "rcs").total_cycles == 90u);
  CHECK(find_engine(*info, "capacity-video").name.empty());
}

TEST_CASE("fdinfo of amdgpu from before the common keys is read") {
  const auto info = parse_fdinfo(
      "pos:\t0\npdev:\t0000:03:00.0\npasid:\t32769\nvram mem:\t1024 kB\ngtt mem:\t64 kB\n"
      "cpu mem:\t0 kB\ngfx0:\t12.34%\n");
  REQUIRE(info);
  CHECK(info->driver == "amdgpu");
  CHECK(info->pci_address == "0000:03:00.0");
  CHECK(info->pasid == 32769u);
  CHECK_FALSE(info->client_id);
  CHECK(find_region(*info, "vram").backed() == 1u << 20);
  CHECK(find_region(*info, "gtt").backed() == 64u << 10);
  CHECK(info->engines().empty());
}

TEST_CASE("driver-specific keys are read on request and never merged") {
  const auto info = parse_fdinfo(
      "drm-driver:\tamdgpu\namd-evicted-vram:\t4 KiB\namd-evicted-vram-x:\t9\n"
      "panthor-resident-memory:\t10396 KiB\n");
  CHECK(info->regions().empty());
  CHECK(find_amount(info->text, "amd-evicted-vram") == 4096u);
  CHECK_FALSE(find_amount(info->text, "amd-evicted"));
  CHECK_FALSE(find_amount(info->text, "evicted-vram"));
  CHECK(find_amount(info->text, "panthor-resident-memory") == 10396u << 10);
}

TEST_CASE("a text without a driver name is not from a DRM client") {
  for (const char* text :
       {"", "\n", "pos:\t0\nflags:\t02\n", "size:\t32768\ncount:\t2\nexp_name:\tsystem-heap\n",
        "drm-driver:\t\n", "drm-driver:\tcut", "vram mem:\t12 kB\n", "pdev:\t0000:03:00.0\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_fdinfo(text));
  }
}

TEST_CASE("a truncated line is ignored, and malformed values are absent") {
  const auto info = parse_fdinfo(
      "drm-driver:\tv3d\nno colon\n:\ndrm-total-memory:\tmany\ndrm-engine-bin:\t12\n"
      "drm-client-id:\t-1\ndrm-total-memory:\t3 KiB\ndrm-resident-memory:\t12");
  REQUIRE(info);
  CHECK_FALSE(info->client_id);
  CHECK(find_region(*info, "memory").total == 3u << 10);
  CHECK_FALSE(find_region(*info, "memory").resident);
  CHECK_FALSE(find_engine(*info, "bin").busy_ns);
}

TEST_CASE("regions and engines above the capacity make the result partial") {
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
