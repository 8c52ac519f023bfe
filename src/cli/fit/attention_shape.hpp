// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>

#include "cli/fit/config_keys.hpp"

namespace hmn::cli::fit {

// Heads and their sizes; zero in a model without attention.
struct attention_shape {
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;
};
attention_shape attention_shape_of(config_keys& keys, std::uint64_t hidden_size);

std::uint64_t hidden_size_of(config_keys& keys);
std::uint64_t feed_forward_size_of(config_keys& keys);

// Sizes of routed and shared experts, their count, and the number used by a token.
struct expert_shape {
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::uint64_t taken = 0;
  std::uint64_t shared_size = 0;  // of the experts used by every token
};
expert_shape expert_shape_of(config_keys& keys);

}  // namespace hmn::cli::fit
