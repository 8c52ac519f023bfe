// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/estimate.hpp"

#include <algorithm>
#include <initializer_list>

namespace hmn::estimate {
namespace {

// Number of bits, as whole bytes and a remainder, so that any 64-bit result is exact without
// 128-bit numbers, which 32-bit compilers lack. Remembers an overflow.
class BitCount {
 public:
  constexpr BitCount() = default;
  explicit constexpr BitCount(std::uint64_t bits) noexcept
      : bytes_(bits / 8), spare_bits_(bits % 8) {}

  BitCount& operator+=(const BitCount& addend) noexcept {
    spare_bits_ += addend.spare_bits_;
    add_bytes(addend.bytes_);
    add_bytes(spare_bits_ / 8);
    spare_bits_ %= 8;
    has_overflow_ |= addend.has_overflow_;
    return *this;
  }

  BitCount& operator*=(std::uint64_t factor) noexcept {
    const std::uint64_t low_bits = factor % 8 * spare_bits_;
    has_overflow_ |= __builtin_mul_overflow(bytes_, factor, &bytes_);
    add_bytes(factor / 8 * spare_bits_);
    add_bytes(low_bits / 8);
    spare_bits_ = low_bits % 8;
    return *this;
  }

  // Adds the product. A zero factor makes it 0 even if the others overflow.
  void add(BitCount bits, std::span<const std::uint64_t> factors) noexcept {
    if (std::ranges::find(factors, 0) != factors.end()) return;
    for (const std::uint64_t factor : factors) bits *= factor;
    *this += bits;
  }
  void add(BitCount bits, std::initializer_list<std::uint64_t> factors) noexcept {
    add(bits, std::span(factors.begin(), factors.size()));
  }

  // Rounds up.
  [[nodiscard]] std::optional<std::uint64_t> bytes() noexcept {
    add_bytes(spare_bits_ != 0 ? 1 : 0);
    return has_overflow_ ? std::nullopt : std::optional(bytes_);
  }

 private:
  void add_bytes(std::uint64_t count) noexcept {
    has_overflow_ |= __builtin_add_overflow(bytes_, count, &bytes_);
  }

  std::uint64_t bytes_ = 0;
  std::uint64_t spare_bits_ = 0;  // bits, below 8
  bool has_overflow_ = false;
};

std::uint64_t divide_rounding_up(std::uint64_t number, std::uint64_t divisor) noexcept {
  return number / divisor + (number % divisor != 0 ? 1 : 0);
}

BitCount row_bits(std::uint64_t elements, const Packing& packing) noexcept {
  BitCount bits;
  bits.add(BitCount(packing.element_bits), {elements});
  if (packing.group_size != 0)
    bits.add(BitCount(packing.group_bits), {divide_rounding_up(elements, packing.group_size)});
  return bits;
}

// Returns the number of tokens of a sequence that a layer's cache holds.
std::uint64_t count_cached_tokens(const Cache& cache, std::uint64_t sequence) noexcept {
  if (cache.kind != CacheKind::window) return sequence;
  const std::uint64_t first = std::min(sequence, cache.sinks);
  return first + std::min(sequence - first, cache.window);
}

}  // namespace

std::optional<std::uint64_t> tensor_bytes(std::span<const std::uint64_t> shape,
                                          const Packing& packing) {
  BitCount total;
  const std::uint64_t row = shape.empty() ? 1 : shape.back();
  total.add(row_bits(row, packing), shape.empty() ? shape : shape.first(shape.size() - 1));
  return total.bytes();
}

std::optional<std::uint64_t> attention_bytes(const Attention& attention) {
  BitCount total;
  total.add(BitCount(attention.element_bits),
            {2, attention.batch, attention.heads, attention.sequence, attention.head_dim});
  total.add(BitCount(attention.element_bits),
            {2, attention.batch, attention.kv_heads, attention.sequence, attention.head_dim});
  if (!attention.fused)
    total.add(BitCount(attention.element_bits),
              {attention.batch, attention.heads, attention.sequence, attention.sequence});
  return total.bytes();
}

std::optional<std::uint64_t> cache_bytes(const Cache& cache, std::uint64_t sequence,
                                         std::uint64_t sequences) {
  BitCount total;
  if (cache.kind == CacheKind::state) {
    total.add(row_bits(cache.state_elements, cache.elements), {cache.layers, sequences});
  } else if (cache.kind == CacheKind::latent) {
    total.add(row_bits(cache.latent_dim, cache.elements), {cache.layers, sequence, sequences});
  } else {
    total.add(row_bits(cache.row_dim, cache.elements),
              {cache.kv_heads, cache.layers, count_cached_tokens(cache, sequence), sequences});
  }
  return total.bytes();
}

std::optional<std::uint64_t> add_overhead(std::uint64_t bytes, std::uint32_t per_thousand) {
  BitCount total;
  total.add(BitCount(8), {bytes / 1000, per_thousand});
  total.add(BitCount(8), {divide_rounding_up(bytes % 1000 * per_thousand, 1000)});
  return total.bytes();
}

std::optional<std::uint64_t> sum(std::span<const std::uint64_t> bytes) {
  BitCount total;
  for (const std::uint64_t size : bytes) total.add(BitCount(8), {size});
  return total.bytes();
}

}  // namespace hmn::estimate
