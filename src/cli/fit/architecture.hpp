// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hmn::cli::fit {

enum class cache_kind { none, full, window, latent };

// Memory of one layer for each sequence.
struct layer {
  cache_kind cache = cache_kind::none;
  std::uint64_t kv_heads = 0;
  std::uint64_t key_size = 0;    // of a head; latent: values for each token
  std::uint64_t value_size = 0;  // of a head
  std::uint64_t window = 0;      // tokens
  std::uint64_t state_size = 0;  // values for each sequence of any length; in addition to the cache
};

// Properties of a model that determine its memory, apart from the weights.
struct architecture {
  std::string type;  // "llama", as named in the file
  std::uint64_t hidden_size = 0;
  std::uint64_t head_count = 0;
  std::uint64_t feed_forward_size = 0;  // used by one token in a layer
  std::uint64_t vocabulary_size = 0;
  std::optional<std::uint64_t> context_length;  // of the model's training
  std::vector<layer> layers;
  std::vector<std::string> assumptions;  // values that the file leaves open, and their replacements
};

constexpr std::uint64_t most_layers = 10'000;

}  // namespace hmn::cli::fit
