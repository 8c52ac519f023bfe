// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/kfd.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "../amdgpu/cards.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace hmn::kfd;
using namespace amdgpu_test;

TEST_CASE("a property is a whole key with a number") {
  constexpr std::string_view text =
      "simd_count 416\nsimd_count_x 7\nhive_id 15188982192727901047\n"
      "negative -1\nempty \nlocation_id 25344";
  CHECK(property(text, "simd_count") == 416u);
  CHECK(property(text, "hive_id") == 15188982192727901047u);  // above 2^63
  CHECK(property(text, "location_id") == 25344u);
  for (const char* none : {"simd", "negative", "empty", "count", ""}) {
    CAPTURE(none);
    CHECK_FALSE(property(text, none));
  }
  CHECK_FALSE(property("a 18446744073709551616\n", "a"));
}

TEST_CASE("a node is a GPU when it computes and can be found") {
  drm::ComputeNode n;
  CHECK(parse_node("simd_count 416\nlocation_id 768\ndomain 1\ndrm_render_minor 130\n", n));
  CHECK(n.render_minor == 130);
  CHECK(n.location == 768);
  CHECK(n.domain == 1);
  CHECK(parse_node("simd_count 416\nlocation_id 768\ndrm_render_minor 130\n", n));
  CHECK(n.domain == 0);
  CHECK(n.gfx_target == 0);
  CHECK(parse_node(
      "simd_count 416\nlocation_id 768\ndrm_render_minor 130\ngfx_target_version 90402\n", n));
  CHECK(n.gfx_target == 90402);
  for (const char* none :
       {"", "simd_count 0\nlocation_id 0\ndrm_render_minor 0\n",
        "simd_count 416\nlocation_id 768\n", "simd_count 416\ndrm_render_minor 128\n",
        "simd_count 416\nlocation_id 4294967296\ndrm_render_minor 128\n"}) {
    CAPTURE(none);
    CHECK_FALSE(parse_node(none, n));
  }
}

TEST_CASE("a bank of the GPU's own memory") {
  CHECK(parse_bank("heap_type 1\nsize_in_bytes 51539607552\n") == 51539607552u);
  CHECK(parse_bank("heap_type 2\nsize_in_bytes 1\n") == 1u);
  CHECK_FALSE(parse_bank("heap_type 0\nsize_in_bytes 1081864880128\n"));
  CHECK_FALSE(parse_bank("size_in_bytes 1\n"));
  CHECK_FALSE(parse_bank("heap_type 1\n"));
}

TEST_CASE("the topology is read anew when its generation changes") {
  const hmn_fake::Tree t;
  Topology all(t.path("sys/class/kfd/kfd"));
  CHECK(all.refresh() == ENOENT);
  set_kfd_generation(t, 2);
  add_kfd_node(t, {.node = 0, .gpu_id = 0, .simd_count = 0});
  add_kfd_node(t, {.node = 1, .gpu_id = 57300, .location = 0x300, .memory = 16 * gib});
  CHECK(all.refresh() == 0);
  REQUIRE(all.nodes().size() == 1);
  CHECK(all.nodes()[0].gpu_id == 57300);
  CHECK(all.nodes()[0].memory == 16 * gib);
  add_kfd_node(t, {.node = 2, .gpu_id = 8784, .location = 0x400, .render_minor = 129});
  CHECK(all.refresh() == 0);
  CHECK(all.nodes().size() == 1);
  set_kfd_generation(t, 3);
  CHECK(all.refresh() == 0);
  CHECK(all.nodes().size() == 2);
}

TEST_CASE("broken nodes are left out") {
  const hmn_fake::Tree t;
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
  add_kfd_node(t, {.node = 1, .gpu_id = 1, .location = 0x300});
  add_kfd_node(t, {.node = 2, .gpu_id = 2, .location = 0x400});
  add_kfd_node(t, {.node = 3, .gpu_id = 3, .location = 0x500, .render_minor = 130});
  add_kfd_node(t, {.node = 4, .gpu_id = 4, .location = 0x600});
  t.write(nodes + "1/gpu_id", "x\n");
  t.remove(nodes + "2/properties");
  t.write(nodes + "4/properties", std::string(100, '\0'));
  Topology all(t.path("sys/class/kfd/kfd"));
  CHECK(all.refresh() == 0);
  REQUIRE(all.nodes().size() == 1);
  CHECK(all.nodes()[0].render_minor == 130);
}
