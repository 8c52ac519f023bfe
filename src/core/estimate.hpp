// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Estimates of a model's memory, by arithmetic alone. Empty results exceed 64 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/tables.hpp"

namespace hmn::estimate {

// Layout of elements: rows of groups, the last group of a row possibly partial.
struct Packing {
  std::uint32_t element_bits = 0;
  std::uint32_t group_size = 0;  // 0: no groups
  std::uint32_t group_bits = 0;  // of a group, in addition to its elements
};

struct Attention {
  std::uint32_t element_bits = 0;
  bool fused = false;
  std::uint64_t batch = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t sequence = 0;
  std::uint64_t head_dim = 0;
};

// HMN_CACHE_* of the C interface; src/api asserts it.
enum class CacheKind : std::uint32_t {
  full = HMN_CACHE_FULL,
  window = HMN_CACHE_WINDOW,
  latent = HMN_CACHE_LATENT,
  state = HMN_CACHE_STATE,
};

struct Cache {
  CacheKind kind = CacheKind::full;
  Packing elements;
  std::uint64_t layers = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t row_dim = 0;
  std::uint64_t window = 0;
  std::uint64_t sinks = 0;
  std::uint64_t latent_dim = 0;
  std::uint64_t state_elements = 0;
};

std::optional<std::uint64_t> tensor_bytes(std::span<const std::uint64_t> shape,
                                          const Packing& packing);
std::optional<std::uint64_t> attention_bytes(const Attention& attention);
std::optional<std::uint64_t> cache_bytes(const Cache& cache, std::uint64_t sequence,
                                         std::uint64_t sequences);
std::optional<std::uint64_t> add_overhead(std::uint64_t bytes, std::uint32_t per_thousand);
std::optional<std::uint64_t> sum(std::span<const std::uint64_t> bytes);

}  // namespace hmn::estimate
