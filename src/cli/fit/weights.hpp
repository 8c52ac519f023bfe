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

// Bytes of a model's weights, by where they could lie.
struct weights {
  std::vector<std::uint64_t> layers;
  std::uint64_t outside = 0;  // embedding, output, whatever else is no layer's
  std::uint64_t parameters = 0;

  std::uint64_t total() const;
};

// 3 of "blk.3.attn_q.weight" and "model.layers.3.mlp.gate.weight"; nothing for a part that sees or
// hears.
std::optional<std::uint64_t> layer_of_tensor(std::string_view name) noexcept;

// What belongs to a layer past `layers` counts as outside; 0 layers: as many as the names tell.
weights weights_of(const std::vector<tensor>& tensors, std::size_t layers);
expected<weights> weights_of(const model_config& counted);
// The same shares of another sum.
weights scaled_to(const weights& counted, std::uint64_t total);

}  // namespace hmn::cli::fit
