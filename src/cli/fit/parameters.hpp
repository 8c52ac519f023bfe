// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "cli/fit/block_plan.hpp"
#include "cli/fit/config_keys.hpp"

namespace hmn::cli::fit {

// Numbers by what may become of them when a model is quantised.
struct parameter_count {
  std::uint64_t matrices = 0;  // of attention and of what follows it
  std::uint64_t experts = 0;   // matrices of routed experts
  std::uint64_t plain = 0;     // embeddings, norms, biases, routers: mostly left as they were

  std::uint64_t all() const;
};

struct counted_parameters {
  std::vector<parameter_count> layers;
  parameter_count outside;  // embedding, output, layers for more tokens at once
};

// From the architecture alone; a known model's published number is met within a percent.
counted_parameters count_parameters(config_keys& keys, const std::vector<block>& blocks);

}  // namespace hmn::cli::fit
