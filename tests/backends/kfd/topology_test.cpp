// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/kfd.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "../amdgpu/cards.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace hmn::kfd;
using namespace amdgpu_test;

TEST_CASE("a property is a whole key followed by a number") {
  constexpr std::string_view text =
      "simd_count 416\nsimd_count_x 7\nhive_id 15188982192727901047\n"
      "negative -1\nempty \nlocation_id 25344";
  CHECK(find_property(text, "simd_count") == 416u);
  CHECK(find_property(text, "hive_id") == 15188982192727901047u);  // above 2^63
  CHECK(find_property(text, "location_id") == 25344u);
  for (const char* key : {"simd", "negative", "empty", "count", ""}) {
    CAPTURE(key);
    CHECK_FALSE(find_property(text, key));
  }
  CHECK_FALSE(find_property("a 18446744073709551616\n", "a"));
}

TEST_CASE("a node is a GPU if it has SIMDs, a location and a render node") {
  drm::ComputeNode node;
  CHECK(parse_node("simd_count 416\nlocation_id 768\ndomain 1\ndrm_render_minor 130\n", node));
  CHECK(node.render_minor == 130);
  CHECK(node.location == 768);
  CHECK(node.domain == 1);
  CHECK(parse_node("simd_count 416\nlocation_id 768\ndrm_render_minor 130\n", node));
  CHECK(node.domain == 0);
  CHECK(node.gfx_target == 0);
  CHECK(parse_node(
      "simd_count 416\nlocation_id 768\ndrm_render_minor 130\ngfx_target_version 90402\n", node));
  CHECK(node.gfx_target == 90402);
  for (const char* text :
       {"", "simd_count 0\nlocation_id 0\ndrm_render_minor 0\n",
        "simd_count 416\nlocation_id 768\n", "simd_count 416\ndrm_render_minor 128\n",
        "simd_count 416\nlocation_id 4294967296\ndrm_render_minor 128\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_node(text, node));
  }
}

TEST_CASE("only banks of local memory are counted") {
  CHECK(parse_bank("heap_type 1\nsize_in_bytes 51539607552\n") == 51539607552u);
  CHECK(parse_bank("heap_type 2\nsize_in_bytes 1\n") == 1u);
  CHECK_FALSE(parse_bank("heap_type 0\nsize_in_bytes 1081864880128\n"));
  CHECK_FALSE(parse_bank("size_in_bytes 1\n"));
  CHECK_FALSE(parse_bank("heap_type 1\n"));
}

TEST_CASE("the topology is read again when its generation changes") {
  const hmn_fake::Tree tree;
  Topology topology(tree.path("sys/class/kfd/kfd"));
  CHECK(topology.refresh() == ENOENT);
  set_kfd_generation(tree, 2);
  add_kfd_node(tree, {.node = 0, .gpu_id = 0, .simd_count = 0});
  add_kfd_node(tree, {.node = 1, .gpu_id = 57300, .location = 0x300, .memory = 16 * gib});
  CHECK(topology.refresh() == 0);
  REQUIRE(topology.nodes().size() == 1);
  CHECK(topology.nodes()[0].gpu_id == 57300);
  CHECK(topology.nodes()[0].memory == 16 * gib);
  add_kfd_node(tree, {.node = 2, .gpu_id = 8784, .location = 0x400, .render_minor = 129});
  CHECK(topology.refresh() == 0);
  CHECK(topology.nodes().size() == 1);
  set_kfd_generation(tree, 3);
  CHECK(topology.refresh() == 0);
  CHECK(topology.nodes().size() == 2);
}

TEST_CASE("broken nodes are skipped") {
  const hmn_fake::Tree tree;
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
  add_kfd_node(tree, {.node = 1, .gpu_id = 1, .location = 0x300});
  add_kfd_node(tree, {.node = 2, .gpu_id = 2, .location = 0x400});
  add_kfd_node(tree, {.node = 3, .gpu_id = 3, .location = 0x500, .render_minor = 130});
  add_kfd_node(tree, {.node = 4, .gpu_id = 4, .location = 0x600});
  tree.write(nodes + "1/gpu_id", "x\n");
  tree.remove(nodes + "2/properties");
  tree.write(nodes + "4/properties", std::string(100, '\0'));
  Topology topology(tree.path("sys/class/kfd/kfd"));
  CHECK(topology.refresh() == 0);
  REQUIRE(topology.nodes().size() == 1);
  CHECK(topology.nodes()[0].render_minor == 130);
}
