// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/model.hpp"
#include "cli/fit/options.hpp"

namespace hmn::cli::fit {

// Memory demand of running a model.
struct demand {
  std::vector<std::uint64_t> layer_weights;
  std::vector<std::uint64_t> layer_caches;  // of the same size
  std::uint64_t outside_weights = 0;
  std::uint64_t weights = 0;
  std::optional<std::uint64_t> cache;    // of all layers; absent if the architecture is unknown
  std::optional<std::uint64_t> working;  // for the tokens in process; absent if unknown
  std::uint64_t context = 0;
  std::vector<std::string> assumptions;
  std::vector<std::string> warnings;

  bool is_whole() const { return cache.has_value(); }
  std::uint64_t total() const;  // sum of the known parts
};

constexpr std::uint64_t usual_context = 8192;
constexpr std::uint64_t tokens_at_once = 512;

expected<demand> demand_of(const model& of, const fit_options& asked);

}  // namespace hmn::cli::fit
