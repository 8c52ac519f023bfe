// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "cli/fit/block_plan.hpp"
#include "cli/fit/config_keys.hpp"

namespace hmn::cli::fit {

// Parameter counts, by their treatment when a model is quantised.
struct parameter_count {
  std::uint64_t matrices = 0;  // of attention and feed-forward networks
  std::uint64_t experts = 0;   // matrices of routed experts
  std::uint64_t plain = 0;     // embeddings, norms, biases, routers: mostly not quantised

  std::uint64_t all() const;
};

struct counted_parameters {
  std::vector<parameter_count> layers;
  parameter_count outside;  // embedding, output, layers for predicting further tokens
};

// Counts from the architecture alone; within a percent of known models' published numbers.
counted_parameters count_parameters(config_keys& keys, const std::vector<block>& blocks);

}  // namespace hmn::cli::fit
