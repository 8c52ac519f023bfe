// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/model.hpp"
#include "cli/fit/options.hpp"

namespace hmn::cli::fit {

// Memory demand of running a model.
struct Demand {
  std::vector<std::uint64_t> layer_weights;
  std::vector<std::uint64_t> layer_caches;  // of the same size
  std::uint64_t outside_weights = 0;
  std::uint64_t weights = 0;
  std::optional<std::uint64_t> cache;    // of all layers; absent if the architecture is unknown
  std::optional<std::uint64_t> working;  // for the tokens being processed; absent if unknown
  std::uint64_t context = 0;
  std::uint64_t ubatch = 0;  // tokens processed at once
  Precision precision = Precision::counted;
  std::vector<std::string> assumptions;
  std::vector<std::string> warnings;

  bool is_complete() const { return cache.has_value(); }
  std::uint64_t total() const;  // sum of the known parts
};

constexpr std::uint64_t default_context = 8192;

// Tokens processed at once, and so kept in addition to a window: n_ubatch of llama.cpp, and
// max_num_batched_tokens of vLLM.
constexpr std::uint64_t default_ubatch(Runtime runtime) noexcept {
  return runtime == Runtime::llama_cpp ? 512 : 2048;
}

// Finds the packing of keys and values by llama.cpp's name: "f16", "q8_0".
std::optional<packing> find_kv_packing(std::string_view name) noexcept;
// Returns "f32, f16, …".
std::string list_kv_types();

Expected<Demand> estimate_demand(const Model& model, const FitOptions& options);

}  // namespace hmn::cli::fit
