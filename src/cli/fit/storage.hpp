// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/config_keys.hpp"
#include "cli/fit/parameters.hpp"

namespace hmn::cli::fit {

// How many bits a number takes, and what a group of them takes in addition.
using hypomnesis::packing;

// How a configuration says that weights are stored.
struct storage {
  packing plain;
  packing matrices;
  packing experts;
  std::string name;                      // "bf16", "bfloat16, matrices of gptq"
  bool is_told = true;                   // not taken for granted
  std::vector<std::string> assumptions;  // of weights that are counted by this
};
storage storage_of(config_keys& keys);

expected<std::uint64_t> bytes_of(std::uint64_t elements, const packing& as);
expected<std::uint64_t> bytes_of(const parameter_count& numbers, const storage& as);

}  // namespace hmn::cli::fit
