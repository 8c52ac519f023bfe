// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/config_keys.hpp"
#include "cli/fit/parameters.hpp"

namespace hmn::cli::fit {

// Bits for each value, and additional bits for each group.
using hypomnesis::packing;

// Storage of weights, as specified by a configuration.
struct storage {
  packing plain;
  packing matrices;
  packing experts;
  std::string name;                      // "bf16", "bfloat16, matrices of gptq"
  bool is_specified = true;              // specified rather than assumed
  std::vector<std::string> assumptions;  // for weights that are counted by this
};
storage storage_of(config_keys& keys);

// Finds the packing of keys and values by llama.cpp's name: "f16", "q8_0".
std::optional<packing> kv_packing_of(std::string_view name) noexcept;
// Returns "f32, f16, …".
std::string kv_type_names();

expected<std::uint64_t> bytes_of(std::uint64_t elements, const packing& as);
expected<std::uint64_t> bytes_of(const parameter_count& numbers, const storage& as);

}  // namespace hmn::cli::fit
