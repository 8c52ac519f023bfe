// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>

#include "cli/fit/block_plan.hpp"
#include "cli/fit/config_keys.hpp"

namespace hmn::cli::fit {

// Sizes of a recurrent layer, with or without attention.
struct recurrence {
  std::uint64_t state_size = 0;  // values that it keeps for each sequence
  std::uint64_t matrices = 0;    // weights
  std::uint64_t vectors = 0;
};
recurrence recurrence_of(config_keys& keys, mixer mix, std::uint64_t hidden_size);

}  // namespace hmn::cli::fit
