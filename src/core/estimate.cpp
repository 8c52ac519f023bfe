// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/estimate.hpp"

#include <algorithm>
#include <initializer_list>

namespace hmn::estimate {
namespace {

// Bits, as whole bytes and the rest, so that any result of 64 bits is exact without 128-bit
// numbers, which 32-bit compilers lack. Remembers overflow.
class BitCount {
 public:
  constexpr BitCount() = default;
  explicit constexpr BitCount(std::uint64_t bits) noexcept : bytes_(bits / 8), rest_(bits % 8) {}

  BitCount& operator+=(const BitCount& more) noexcept {
    rest_ += more.rest_;
    add_bytes(more.bytes_);
    add_bytes(rest_ / 8);
    rest_ %= 8;
    over_ |= more.over_;
    return *this;
  }

  BitCount& operator*=(std::uint64_t factor) noexcept {
    const std::uint64_t parts = factor % 8 * rest_;
    over_ |= __builtin_mul_overflow(bytes_, factor, &bytes_);
    add_bytes(factor / 8 * rest_);
    add_bytes(parts / 8);
    rest_ = parts % 8;
    return *this;
  }

  // Adds the product. A zero factor makes it 0 even if the others overflow.
  void add(BitCount bits, std::span<const std::uint64_t> factors) noexcept {
    if (std::ranges::find(factors, 0) != factors.end()) return;
    for (const std::uint64_t f : factors) bits *= f;
    *this += bits;
  }
  void add(BitCount bits, std::initializer_list<std::uint64_t> factors) noexcept {
    add(bits, std::span(factors.begin(), factors.size()));
  }

  // Rounds up.
  [[nodiscard]] std::optional<std::uint64_t> bytes() noexcept {
    add_bytes(rest_ != 0 ? 1 : 0);
    return over_ ? std::nullopt : std::optional(bytes_);
  }

 private:
  void add_bytes(std::uint64_t more) noexcept {
    over_ |= __builtin_add_overflow(bytes_, more, &bytes_);
  }

  std::uint64_t bytes_ = 0;
  std::uint64_t rest_ = 0;  // bits, below 8
  bool over_ = false;
};

std::uint64_t round_up_div(std::uint64_t number, std::uint64_t by) noexcept {
  return number / by + (number % by != 0 ? 1 : 0);
}

BitCount row_bits(std::uint64_t elements, const Packing& p) noexcept {
  BitCount bits;
  bits.add(BitCount(p.element_bits), {elements});
  if (p.group_size != 0) bits.add(BitCount(p.group_bits), {round_up_div(elements, p.group_size)});
  return bits;
}

// Returns the tokens of a sequence that a layer keeps.
std::uint64_t kept(const Cache& c, std::uint64_t sequence) noexcept {
  if (c.kind != CacheKind::window) return sequence;
  const std::uint64_t first = std::min(sequence, c.sinks);
  return first + std::min(sequence - first, c.window);
}

}  // namespace

std::optional<std::uint64_t> tensor_bytes(std::span<const std::uint64_t> shape, const Packing& p) {
  BitCount all;
  const std::uint64_t row = shape.empty() ? 1 : shape.back();
  all.add(row_bits(row, p), shape.empty() ? shape : shape.first(shape.size() - 1));
  return all.bytes();
}

std::optional<std::uint64_t> attention_bytes(const Attention& a) {
  BitCount all;
  all.add(BitCount(a.element_bits), {2, a.batch, a.heads, a.sequence, a.head_dim});
  all.add(BitCount(a.element_bits), {2, a.batch, a.kv_heads, a.sequence, a.head_dim});
  if (!a.fused) all.add(BitCount(a.element_bits), {a.batch, a.heads, a.sequence, a.sequence});
  return all.bytes();
}

std::optional<std::uint64_t> cache_bytes(const Cache& c, std::uint64_t sequence,
                                         std::uint64_t sequences) {
  BitCount all;
  if (c.kind == CacheKind::state) {
    all.add(row_bits(c.state_elements, c.elements), {c.layers, sequences});
  } else if (c.kind == CacheKind::latent) {
    all.add(row_bits(c.latent_dim, c.elements), {c.layers, sequence, sequences});
  } else {
    all.add(row_bits(c.row_dim, c.elements), {c.kv_heads, c.layers, kept(c, sequence), sequences});
  }
  return all.bytes();
}

std::optional<std::uint64_t> with_overhead(std::uint64_t bytes, std::uint32_t per_thousand) {
  BitCount all;
  all.add(BitCount(8), {bytes / 1000, per_thousand});
  all.add(BitCount(8), {round_up_div(bytes % 1000 * per_thousand, 1000)});
  return all.bytes();
}

std::optional<std::uint64_t> sum(std::span<const std::uint64_t> bytes) {
  BitCount all;
  for (const std::uint64_t b : bytes) all.add(BitCount(8), {b});
  return all.bytes();
}

}  // namespace hmn::estimate
