// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hmn::cli::fit {

enum class cache_kind { none, full, window, latent };

// What one layer keeps of each sequence.
struct layer {
  cache_kind cache = cache_kind::none;
  std::uint64_t kv_heads = 0;
  std::uint64_t key_size = 0;    // of a head; latent: numbers of each token
  std::uint64_t value_size = 0;  // of a head
  std::uint64_t window = 0;      // tokens
  std::uint64_t state_size = 0;  // numbers of each sequence, however long; beside the cache
};

// What a model's memory depends on beside its weights.
struct architecture {
  std::string type;  // "llama", as the file calls it
  std::uint64_t hidden_size = 0;
  std::uint64_t head_count = 0;
  std::uint64_t feed_forward_size = 0;  // that one token passes through in a layer
  std::uint64_t vocabulary_size = 0;
  std::optional<std::uint64_t> context_length;  // that the model was made for
  std::vector<layer> layers;
  std::vector<std::string> assumptions;  // what the file leaves open, and how it was taken
};

constexpr std::uint64_t most_layers = 10'000;

}  // namespace hmn::cli::fit
