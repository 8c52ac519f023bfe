// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/config.hpp"
#include "cli/fit/tensor.hpp"

namespace hmn::cli::fit {

// Bytes of a model's weights, by possible location.
struct weights {
  std::vector<std::uint64_t> layers;
  std::uint64_t outside = 0;  // embedding, output, and anything outside layers
  std::uint64_t parameters = 0;

  std::uint64_t total() const;
};

// Returns 3 for "blk.3.attn_q.weight" and "model.layers.3.mlp.gate.weight"; none for vision and
// audio parts.
std::optional<std::uint64_t> layer_of_tensor(std::string_view name) noexcept;

// Counts layers beyond `layers` as outside; 0: the number of layers in the names.
weights weights_of(const std::vector<tensor>& tensors, std::size_t layers);
expected<weights> weights_of(const model_config& counted);
// Scales to another sum with the same proportions.
weights scaled_to(const weights& counted, std::uint64_t total);

}  // namespace hmn::cli::fit
