// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/config_keys.hpp"
#include "cli/fit/weights.hpp"

namespace hmn::cli::fit {

// Heads and their sizes; zero in a model without attention.
struct attention_shape {
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;
};

// Access of a layer to earlier tokens.
enum class mixer { none, attention, window, latent, mamba, linear, convolution, both };
// Network after the mixer: one, or several experts of which each token uses some.
enum class forward { none, dense, experts };

struct block {
  mixer mix = mixer::attention;  // both: attention and Mamba in one layer
  forward feed = forward::dense;
  attention_shape shape;
  std::uint64_t window = 0;  // tokens
  std::uint64_t ratio = 0;   // tokens of a compressed key
};

// Sizes of routed and shared experts, their count, and the number used by a token.
struct expert_shape {
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::uint64_t taken = 0;
  std::uint64_t shared_size = 0;  // of the experts used by every token
};
expert_shape expert_shape_of(config_keys& keys);
std::uint64_t hidden_size_of(config_keys& keys);
std::uint64_t feed_forward_size_of(config_keys& keys);
std::uint64_t predicting_layers_of(config_keys& keys);

// Sizes of a recurrent layer, with or without attention.
struct recurrence {
  std::uint64_t state_size = 0;  // values that it keeps for each sequence
  std::uint64_t matrices = 0;    // weights
  std::uint64_t vectors = 0;
};
recurrence recurrence_of(config_keys& keys, mixer mix, std::uint64_t hidden_size);

// Parameter counts, by their treatment when a model is quantised.
struct parameter_count {
  std::uint64_t matrices = 0;    // of attention and feed-forward networks
  std::uint64_t experts = 0;     // matrices of routed experts
  std::uint64_t embeddings = 0;  // and output
  std::uint64_t plain = 0;       // norms, biases, routers: mostly not quantised

  std::uint64_t all() const { return plus(matrices, experts, embeddings, plain); }
};
struct counted_parameters {
  std::vector<parameter_count> layers;
  parameter_count outside;  // embedding, output, layers for predicting further tokens
};
// Counts from the architecture alone; within a percent of known models' published numbers.
counted_parameters count_parameters(config_keys& keys, const std::vector<block>& blocks);

// Storage of weights, as specified by a configuration.
struct storage {
  packing plain;
  packing embeddings;
  packing matrices;
  packing experts;
  std::string name;          // "bf16", "bfloat16, matrices of gptq"
  bool is_specified = true;  // specified rather than assumed
  notes noted;               // for weights that are counted by this
};
storage storage_of(config_keys& keys);
expected<std::uint64_t> bytes_of(const parameter_count& numbers, const storage& as);

// Properties of a model read from a config.json, by the allocations of vLLM. Each key that may
// change them is used, known to change nothing, or named in the notes.
struct model_config {
  architecture shape;
  counted_parameters parameters;
  storage stored;
};
expected<model_config> parse_config(std::string text);

expected<weights> weights_of(const model_config& counted);

}  // namespace hmn::cli::fit
