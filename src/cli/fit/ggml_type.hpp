// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace hmn::cli::fit {

// Storage type of ggml: a block of values and its size in bytes.
struct ggml_type {
  std::uint32_t number;
  std::string_view name;
  std::uint32_t block_elements;
  std::uint32_t block_bytes;
};

// Returns null for a number that ggml does not use, or no longer uses.
const ggml_type* find_ggml_type(std::uint32_t number) noexcept;

}  // namespace hmn::cli::fit
