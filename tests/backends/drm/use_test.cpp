// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn;
using namespace hmn::drm;

namespace {

ClientUse measure_use(const std::string& lines) {
  const std::string text = "drm-driver:\tx\n" + lines;
  const auto info = parse_fdinfo(text);
  return measure(
      *info, [](std::string_view region) { return classify_region_by_name(region); },
      [](std::string_view engine) { return classify_engine_by_name(engine); });
}

}  // namespace

TEST_CASE("drm-resident is preferred to drm-memory, and that to drm-total") {
  const ClientUse use =
      measure_use("drm-total-vram:\t9\ndrm-memory-vram:\t7\ndrm-resident-vram:\t8\n");
  CHECK(use.used() == 8u);
  CHECK(use.resident == 8u);
  CHECK(use.committed == 9u);
  CHECK(measure_use("drm-total-vram:\t9\ndrm-memory-vram:\t7\n").used() == 7u);
  const ClientUse total_use = measure_use("drm-total-vram:\t9\n");
  CHECK_FALSE(total_use.resident);
  CHECK(total_use.used() == 9u);
  CHECK_FALSE(measure_use("drm-shared-vram:\t9\n").used());
}

TEST_CASE("device regions are added up, and host regions are separate") {
  const ClientUse use = measure_use(
      "drm-resident-vram0:\t8\ndrm-resident-vram1:\t4\ndrm-resident-gtt:\t2\n"
      "drm-resident-system:\t1\ndrm-resident-gds:\t99\n");
  CHECK(use.used() == 12u);
  CHECK(use.host_pool == 3u);
  CHECK_FALSE(measure_use("drm-resident-vram:\t8\n").host_pool);
}

TEST_CASE("one unknown region makes the sum unknown, and empty regions are ignored") {
  const ClientUse use = measure_use("drm-resident-vram0:\t8\ndrm-total-vram1:\t4\n");
  CHECK_FALSE(use.resident);
  CHECK_FALSE(use.committed);
  CHECK_FALSE(use.used());
  CHECK(
      measure_use("drm-total-vram0:\t8\ndrm-resident-vram0:\t8\ndrm-total-vram1:\t0\n").resident ==
      8u);
  CHECK_FALSE(
      measure_use("drm-resident-vram0:\t18446744073709551615\ndrm-resident-vram1:\t1\n").used());
}

TEST_CASE("shared and purgeable memory is counted as the kernel does, resident or not") {
  const ClientUse use = measure_use(
      "drm-total-local0:\t35916 KiB\ndrm-shared-local0:\t32 MiB\ndrm-resident-local0:\t12 KiB\n"
      "drm-purgeable-local0:\t16 KiB\n");
  CHECK(use.used() == 12u << 10);
  CHECK(use.shared == 32u << 20);
  CHECK(use.purgeable == 16u << 10);
}

TEST_CASE("use of two clients of a process is added up") {
  ClientUse use =
      measure_use("drm-resident-vram:\t8\ndrm-shared-vram:\t2\ndrm-engine-gfx:\t5 ns\n");
  add(use, measure_use("drm-resident-vram:\t4\ndrm-engine-compute:\t7 ns\n"));
  CHECK(use.used() == 12u);
  CHECK_FALSE(use.shared);
  CHECK(use.busy_ns == 12u);
  CHECK(use.kinds == (usage_kind::graphics | usage_kind::compute));
}

TEST_CASE("kinds are those of engines that have run") {
  CHECK_FALSE(measure_use("drm-resident-vram:\t8\n").kinds);
  CHECK(measure_use("drm-engine-gfx:\t0 ns\n").kinds == 0u);
  struct {
    const char* engine;
    std::uint32_t kind;
  } const expected[] = {
      {"gfx", usage_kind::graphics},
      {"render", usage_kind::graphics},
      {"rcs", usage_kind::graphics},
      {"fragment", usage_kind::graphics},
      {"vertex-tiler", usage_kind::graphics},
      {"panthor", usage_kind::graphics},
      {"gpu", usage_kind::graphics},
      {"bin", usage_kind::graphics},
      {"compute", usage_kind::compute},
      {"ccs", usage_kind::compute},
      {"csd", usage_kind::compute},
      {"npu-amdxdna", usage_kind::compute},
      {"video", usage_kind::media},
      {"video-enhance", usage_kind::media},
      {"vcs", usage_kind::media},
      {"vecs", usage_kind::media},
      {"enc_1", usage_kind::media},
      {"dec", usage_kind::media},
      {"jpeg", usage_kind::media},
      {"copy", 0},
      {"bcs", 0},
      {"dma", 0},
      {"tfu", 0},
      {"cache_clean", 0},
      {"cpu", 0},
  };
  for (const auto& row : expected) {
    CAPTURE(row.engine);
    CHECK(measure_use(std::string("drm-engine-") + row.engine + ":\t5 ns\n").kinds == row.kind);
  }
}
