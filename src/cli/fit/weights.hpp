// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/architecture.hpp"

namespace hmn::cli::fit {

// Bits for each value, and additional bits for each group.
using hypomnesis::packing;

// Row of a file's tensor table.
struct Tensor {
  std::string name;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

constexpr std::uint64_t max_safetensors_header_bytes = 100'000'000;  // as in its own readers

// Parses the JSON between the length and the weights; `data_bytes` is the size of the data that
// follows it.
Expected<std::vector<Tensor>> parse_safetensors(std::string_view header, std::uint64_t data_bytes);
Expected<std::vector<Tensor>> read_safetensors(const std::string& path);

// Contents of model.safetensors.index.json.
struct SafetensorsIndex {
  std::optional<std::uint64_t> total_bytes;
  std::unordered_map<std::string, std::string> tensors;  // tensor name to file name
  std::vector<std::string> files;                        // without duplicates
};
Expected<SafetensorsIndex> parse_safetensors_index(std::string text);

// Bytes of a model's weights, by possible location.
struct Weights {
  std::vector<std::uint64_t> layers;
  std::uint64_t outside = 0;           // embedding, output, and anything outside layers
  std::vector<std::uint64_t> experts;  // of each layer, the part in routed experts
  std::uint64_t embeddings = 0;        // of outside, what is only looked up
  std::uint64_t output_copy = 0;       // of a matrix for input and output, where these are apart
  std::uint64_t largest = 0;           // tensor of a layer
  std::uint64_t parameters = 0;

  std::uint64_t total() const;
};

// Returns 3 for "blk.3.attn_q.weight" and "model.layers.3.mlp.gate.weight"; none for vision and
// audio parts.
std::optional<std::uint64_t> parse_layer_number(std::string_view name) noexcept;

// Counts layers beyond `layers` as outside; 0: the number of layers in the names.
Weights sum_weights(const std::vector<Tensor>& tensors, std::size_t layers);
// Scales to another sum with the same proportions.
Weights scale_weights(const Weights& weights, std::uint64_t total);

}  // namespace hmn::cli::fit
