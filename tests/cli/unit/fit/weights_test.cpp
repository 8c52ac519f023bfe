// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/weights.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli::fit;

TEST_CASE("the layer that a tensor belongs to") {
  for (const auto* name : {"blk.3.attn_q.weight", "model.layers.3.self_attn.q_proj.weight",
                           "transformer.h.3.mlp.c_fc.weight", "backbone.layers.3.mixer.A_log",
                           "model.language_model.layers.3.mlp.experts.17.up_proj.weight",
                           "transformer.blocks.3.ffn.w1", "gpt_neox.layers.3.x"}) {
    INFO(name);
    CHECK(layer_of_tensor(name) == 3u);
  }
  for (const auto* name :
       {"token_embd.weight", "lm_head.weight", "model.norm.weight", "", ".", "layers", "layers.",
        "layers.x.3", "blk.-1.x", "blk.99999999999999999999.x", "experts.3.w",
        "vision_tower.vision_model.encoder.layers.3.mlp.fc1.weight",
        "visual.blocks.3.attn.qkv.weight", "v.blk.3.attn_q.weight",
        "model.audio_tower.layers.3.x"}) {
    INFO(name);
    CHECK_FALSE(layer_of_tensor(name));
  }
}

TEST_CASE("weights by layer, and what is outside of all") {
  const std::vector<tensor> tensors = {{"token_embd.weight", 100, 200},
                                       {"blk.0.a", 10, 20},
                                       {"blk.1.a", 10, 30},
                                       {"blk.1.b", 1, 2},
                                       {"blk.2.nextn", 5, 7}};
  const auto two = weights_of(tensors, 2);
  CHECK(two.layers == std::vector<std::uint64_t>{20, 32});
  CHECK(two.outside == 207);  // the layer past them too
  CHECK(two.total() == 259);
  CHECK(two.parameters == 126);
  CHECK(weights_of(tensors, 0).layers == std::vector<std::uint64_t>{20, 32, 7});
  CHECK(weights_of({}, 0).total() == 0);
}

TEST_CASE("shares of another sum add up to it") {
  weights counted;
  counted.layers = {30, 30, 30};
  counted.outside = 10;
  const auto scaled = scaled_to(counted, 1007);
  CHECK(scaled.layers == std::vector<std::uint64_t>{302, 302, 302});
  CHECK(scaled.total() == 1007);
  CHECK(scaled_to({}, 5).total() == 5);
}
