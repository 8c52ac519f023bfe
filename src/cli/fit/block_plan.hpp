// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/fit/config_keys.hpp"

namespace hmn::cli::fit {

// What a layer does with the tokens before.
enum class mixer { none, attention, window, latent, mamba, linear, convolution, both };
// What follows: one network, or several of which each token takes some.
enum class forward { none, dense, experts };

struct block {
  mixer mix = mixer::attention;  // both: attention beside Mamba, in one layer
  forward feed = forward::dense;
  std::uint64_t window = 0;  // tokens
};

// One for each layer; what the configuration leaves open is told in `assumptions`.
std::vector<block> plan_blocks(config_keys& keys, std::vector<std::string>& assumptions);

}  // namespace hmn::cli::fit
