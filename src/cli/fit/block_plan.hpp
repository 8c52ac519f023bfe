// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/fit/config_keys.hpp"

namespace hmn::cli::fit {

// Access of a layer to earlier tokens.
enum class mixer { none, attention, window, latent, mamba, linear, convolution, both };
// Network after the mixer: one, or several experts of which each token uses some.
enum class forward { none, dense, experts };

struct block {
  mixer mix = mixer::attention;  // both: attention and Mamba in one layer
  forward feed = forward::dense;
  std::uint64_t window = 0;  // tokens
};

// Returns a block for each layer; records values that the configuration leaves open in
// `assumptions`.
std::vector<block> plan_blocks(config_keys& keys, std::vector<std::string>& assumptions);

}  // namespace hmn::cli::fit
