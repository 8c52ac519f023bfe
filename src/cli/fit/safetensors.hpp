// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/tensor.hpp"

namespace hmn::cli::fit {

constexpr std::uint64_t most_safetensors_header_bytes = 100'000'000;  // as in its own readers

// Parses the JSON between the length and the weights; `data_bytes` is the size of the data after
// it.
expected<std::vector<tensor>> parse_safetensors(std::string_view header, std::uint64_t data_bytes);
expected<std::vector<tensor>> read_safetensors(const std::string& path);

// Contents of model.safetensors.index.json.
struct safetensors_index {
  std::optional<std::uint64_t> total_bytes;
  std::vector<std::string> tensors;
  std::vector<std::string> files;  // without duplicates
};
expected<safetensors_index> parse_safetensors_index(std::string text);

}  // namespace hmn::cli::fit
