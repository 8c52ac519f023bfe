// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn;
using namespace hmn::drm;

namespace {

ClientUse use_of(const std::string& lines) {
  const std::string text = "drm-driver:\tx\n" + lines;
  const auto info = parse_fdinfo(text);
  return measure(
      *info, [](std::string_view region) { return usual_role(region); },
      [](std::string_view engine) { return usual_kind(engine); });
}

}  // namespace

TEST_CASE("resident before memory before total") {
  const ClientUse all = use_of("drm-total-vram:\t9\ndrm-memory-vram:\t7\ndrm-resident-vram:\t8\n");
  CHECK(all.used() == 8u);
  CHECK(all.resident == 8u);
  CHECK(all.committed == 9u);
  CHECK(use_of("drm-total-vram:\t9\ndrm-memory-vram:\t7\n").used() == 7u);
  const ClientUse total = use_of("drm-total-vram:\t9\n");
  CHECK_FALSE(total.resident);
  CHECK(total.used() == 9u);
  CHECK_FALSE(use_of("drm-shared-vram:\t9\n").used());
}

TEST_CASE("regions of the device are summed, the host's stand apart") {
  const ClientUse u = use_of(
      "drm-resident-vram0:\t8\ndrm-resident-vram1:\t4\ndrm-resident-gtt:\t2\n"
      "drm-resident-system:\t1\ndrm-resident-gds:\t99\n");
  CHECK(u.used() == 12u);
  CHECK(u.host_pool == 3u);
  CHECK_FALSE(use_of("drm-resident-vram:\t8\n").host_pool);
}

TEST_CASE("one unknown part makes the sum unknown; handles of nothing are nothing") {
  const ClientUse u = use_of("drm-resident-vram0:\t8\ndrm-total-vram1:\t4\n");
  CHECK_FALSE(u.resident);
  CHECK_FALSE(u.committed);
  CHECK_FALSE(u.used());
  CHECK(use_of("drm-total-vram0:\t8\ndrm-resident-vram0:\t8\ndrm-total-vram1:\t0\n").resident ==
        8u);
  CHECK_FALSE(use_of("drm-resident-vram0:\t18446744073709551615\ndrm-resident-vram1:\t1\n").used());
}

TEST_CASE("shared and purgeable buffers count as the kernel counts them, resident or not") {
  const ClientUse u = use_of(
      "drm-total-local0:\t35916 KiB\ndrm-shared-local0:\t32 MiB\ndrm-resident-local0:\t12 KiB\n"
      "drm-purgeable-local0:\t16 KiB\n");
  CHECK(u.used() == 12u << 10);
  CHECK(u.shared == 32u << 20);
  CHECK(u.purgeable == 16u << 10);
}

TEST_CASE("two clients of a process") {
  ClientUse one = use_of("drm-resident-vram:\t8\ndrm-shared-vram:\t2\ndrm-engine-gfx:\t5 ns\n");
  add(one, use_of("drm-resident-vram:\t4\ndrm-engine-compute:\t7 ns\n"));
  CHECK(one.used() == 12u);
  CHECK_FALSE(one.shared);
  CHECK(one.busy_ns == 12u);
  CHECK(one.kinds == (usage_kind::graphics | usage_kind::compute));
}

TEST_CASE("kinds are those of engines that have run") {
  CHECK_FALSE(use_of("drm-resident-vram:\t8\n").kinds);
  CHECK(use_of("drm-engine-gfx:\t0 ns\n").kinds == 0u);
  struct {
    const char* engine;
    std::uint32_t kind;
  } const known[] = {
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
  for (const auto& k : known) {
    CAPTURE(k.engine);
    CHECK(use_of(std::string("drm-engine-") + k.engine + ":\t5 ns\n").kinds == k.kind);
  }
}
