// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/estimate.hpp"

#include <algorithm>
#include <initializer_list>

namespace hmn::estimate {
namespace {

__extension__ using wide = unsigned __int128;

std::optional<std::uint64_t> narrow(wide bytes) {
  if (bytes > UINT64_MAX) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

// Number of bits that records overflow.
class bit_count {
 public:
  void add(wide bits, std::span<const std::uint64_t> factors) noexcept {
    // A zero factor makes the product 0 even if the others overflow.
    if (bits == 0 || std::ranges::find(factors, 0) != factors.end()) return;
    for (const std::uint64_t f : factors) {
      if (__builtin_mul_overflow(bits, wide{f}, &bits)) over_ = true;
    }
    if (__builtin_add_overflow(total_, bits, &total_)) over_ = true;
  }
  void add(wide bits, std::initializer_list<std::uint64_t> factors) noexcept {
    add(bits, std::span(factors.begin(), factors.size()));
  }

  [[nodiscard]] std::optional<std::uint64_t> bytes() const {
    if (over_) return std::nullopt;
    return narrow(total_ / 8 + (total_ % 8 != 0 ? 1 : 0));
  }

 private:
  wide total_ = 0;
  bool over_ = false;
};

// Returns less than 2^97.
wide row_bits(std::uint64_t elements, const packing& p) noexcept {
  const wide bits = wide{elements} * p.element_bits;
  if (p.group_size == 0) return bits;
  const wide groups = (wide{elements} + p.group_size - 1) / p.group_size;
  return bits + groups * p.group_bits;
}

// Returns the tokens of a sequence that a layer keeps.
std::uint64_t kept(const cache& c, std::uint64_t sequence) noexcept {
  if (c.kind != cache_kind::window) return sequence;
  const std::uint64_t first = std::min(sequence, c.sinks);
  return first + std::min(sequence - first, c.window);
}

}  // namespace

std::optional<std::uint64_t> tensor_bytes(std::span<const std::uint64_t> shape, const packing& p) {
  bit_count all;
  const std::uint64_t row = shape.empty() ? 1 : shape.back();
  all.add(row_bits(row, p), shape.empty() ? shape : shape.first(shape.size() - 1));
  return all.bytes();
}

std::optional<std::uint64_t> attention_bytes(const attention& a) {
  bit_count all;
  all.add(a.element_bits, {2, a.batch, a.heads, a.sequence, a.head_dim});
  all.add(a.element_bits, {2, a.batch, a.kv_heads, a.sequence, a.head_dim});
  if (!a.fused) all.add(a.element_bits, {a.batch, a.heads, a.sequence, a.sequence});
  return all.bytes();
}

std::optional<std::uint64_t> cache_bytes(const cache& c, std::uint64_t sequence,
                                         std::uint64_t sequences) {
  bit_count all;
  if (c.kind == cache_kind::state) {
    all.add(row_bits(c.state_elements, c.elements), {c.layers, sequences});
  } else if (c.kind == cache_kind::latent) {
    all.add(row_bits(c.latent_dim, c.elements), {c.layers, sequence, sequences});
  } else {
    const wide token = row_bits(c.key_dim, c.elements) + row_bits(c.value_dim, c.elements);
    all.add(token, {c.kv_heads, c.layers, kept(c, sequence), sequences});
  }
  return all.bytes();
}

std::optional<std::uint64_t> with_overhead(std::uint64_t bytes, std::uint32_t per_thousand) {
  return narrow((wide{bytes} * per_thousand + 999) / 1000);
}

std::optional<std::uint64_t> sum(std::span<const std::uint64_t> bytes) {
  wide total = 0;
  for (const std::uint64_t b : bytes) total += b;
  return narrow(total);
}

}  // namespace hmn::estimate
