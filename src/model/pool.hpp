// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/failure.hpp"
#include "model/note.hpp"

namespace hmn {

// `main` is valid in requests only.
enum class PoolKind : std::uint32_t { HMN_POOL_KINDS(HMN_ENUMERATOR) };

namespace pool_field {
HMN_POOL_FIELDS(HMN_FIELD_BIT)
// Fields of a direct reading; unattributed memory needs a snapshot that collects processes.
constexpr FieldSet readable = unattributed - 1;
}  // namespace pool_field

// Memory pool of a device, in bytes.
struct Pool {
  HMN_POOL_FIELDS(HMN_MEMBER)
  // Not in hmn_pool: the unused part of the budget, and for a unified pool the free part of the
  // memory that firmware set aside, which is not the host's.
  std::optional<std::uint64_t> budget_left;
  std::optional<std::uint64_t> carveout_free;
};

struct PoolKey {
  PoolKind kind = PoolKind::main;
  std::uint32_t instance = 0;

  bool operator==(const PoolKey&) const = default;
};

// Finds a pool of one device, or a part of one; `main` is the pool that allocations come from.
constexpr const Pool* find_pool(std::span<const Pool> pools, PoolKind kind,
                                std::uint32_t instance) noexcept {
  if (kind == PoolKind::main && instance != 0) {
    const Pool* const main = find_pool(pools, kind, 0);
    return main != nullptr ? find_pool(pools, main->kind, instance) : nullptr;
  }
  for (const Pool& pool : pools) {
    if (pool.instance != instance) continue;
    if (kind == PoolKind::main ? pool.is_main : pool.kind == kind) return &pool;
  }
  return nullptr;
}

// Pools of one device, the main one first, without allocations.
class PoolList {
 public:
  static constexpr std::size_t capacity = 16;

  void clear() noexcept { count_ = 0; }
  void add(const Pool& pool) noexcept {
    if (count_ < capacity) entries_[count_++] = pool;
  }
  [[nodiscard]] std::span<Pool> all() noexcept { return {entries_.data(), count_}; }
  [[nodiscard]] std::span<const Pool> all() const noexcept { return {entries_.data(), count_}; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  [[nodiscard]] const Pool* find(PoolKind kind, std::uint32_t instance = 0) const noexcept {
    return find_pool(all(), kind, instance);
  }

 private:
  std::array<Pool, capacity> entries_{};
  std::size_t count_ = 0;
};

}  // namespace hmn
