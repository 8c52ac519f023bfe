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
  std::vector<std::uint64_t> layer_experts;  // of these, what --n-cpu-moe can leave in RAM
  std::vector<std::uint64_t> layer_caches;   // of the same size
  std::uint64_t outside_weights = 0;         // output, and what else a device needs once
  std::uint64_t ram_weights = 0;             // stay in RAM when all layers are on a device
  std::uint64_t weights = 0;
  std::optional<std::uint64_t> cache;    // of all layers; absent if the architecture is unknown
  std::optional<std::uint64_t> working;  // for the tokens being processed; absent if unknown
  std::uint64_t least_working = 0;       // lower end of what runtimes need
  std::uint64_t split_working = 0;       // on a device that has a part of the model
  std::uint64_t ram_working = 0;         // in RAM when all layers are on a device
  bool output_is_first = false;          // on a device, before any layer
  std::uint64_t context = 0;
  std::uint64_t sequences = 1;
  bool context_is_shared = false;  // by all sequences; else each has its own
  std::uint64_t ubatch = 0;        // tokens processed at once
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

// Returns the demand with the routed experts of the first layers in RAM.
Demand move_experts(Demand demand, std::uint64_t layers);

// Finds the packing of keys and values by llama.cpp's name: "f16", "q8_0".
std::optional<packing> find_kv_packing(std::string_view name) noexcept;
// Returns "f32, f16, …".
std::string list_kv_types();
// Returns whether llama.cpp can store keys and values of the model in that type.
bool is_cache_type_possible(const Architecture& architecture, std::string_view name);

// Slots of llama-server, which share one context unless their number is given.
constexpr std::uint64_t default_slots = 4;

Expected<Demand> estimate_demand(const Model& model, const FitOptions& options);

}  // namespace hmn::cli::fit
