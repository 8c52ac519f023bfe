// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The table of a safetensors file, and the index of several.
#include "cli/fit/weights.hpp"

#include "fuzz.hpp"

using namespace hmn::cli::fit;

void fuzz(std::string_view input) {
  const std::uint64_t data_bytes = take_byte(input) * 256;
  const auto tensors = parse_safetensors(input, data_bytes);
  if (tensors) {
    const auto sorted = sum_weights(*tensors, 0);
    promise(sorted.total() <= data_bytes);
    promise(sorted.layers.size() <= 10'000);
  } else {
    promise(!tensors.error().message.empty());
  }
  const auto index = parse_safetensors_index(std::string(input));
  if (!index) return;
  promise(index->files.size() <= index->tensors.size());
  for (const auto& file : index->files) promise(file.find('/') == std::string::npos);
}
