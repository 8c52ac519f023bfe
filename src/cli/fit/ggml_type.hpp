// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace hmn::cli::fit {

// How ggml stores numbers: so many together in so many bytes.
struct ggml_type {
  std::uint32_t number;
  std::string_view name;
  std::uint32_t block_elements;
  std::uint32_t block_bytes;
};

// Null for a number that ggml does not use, or no longer.
const ggml_type* find_ggml_type(std::uint32_t number) noexcept;

}  // namespace hmn::cli::fit
