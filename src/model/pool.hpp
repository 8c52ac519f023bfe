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
enum class pool_kind : std::uint32_t { HMN_POOL_KINDS(HMN_ENUMERATOR) };

namespace pool_field {
HMN_POOL_FIELDS(HMN_FIELD_BIT)
// Fields of a direct reading; unattributed memory needs a snapshot that collects processes.
constexpr FieldSet readable = unattributed - 1;
}  // namespace pool_field

// Memory pool of a device, in bytes.
struct pool {
  HMN_POOL_FIELDS(HMN_MEMBER)
  // Not in hmn_pool: the unused part of the budget, and of a unified pool the free part of the
  // memory that firmware set aside, which is not the host's.
  std::optional<std::uint64_t> budget_left;
  std::optional<std::uint64_t> apart_free;
};

// Pools of one device, the main one first, without allocations.
class pools {
 public:
  static constexpr std::size_t most = 5;

  void clear() noexcept { count_ = 0; }
  void add(const pool& p) noexcept {
    if (count_ < most) entries_[count_++] = p;
  }
  [[nodiscard]] std::span<pool> all() noexcept { return {entries_.data(), count_}; }
  [[nodiscard]] std::span<const pool> all() const noexcept { return {entries_.data(), count_}; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  // Finds a pool by its kind; for main, the one that allocations come from.
  [[nodiscard]] const pool* find(pool_kind kind) const noexcept {
    for (const pool& p : all()) {
      if (kind == pool_kind::main ? p.is_main : p.kind == kind) return &p;
    }
    return nullptr;
  }

 private:
  std::array<pool, most> entries_{};
  std::size_t count_ = 0;
};

}  // namespace hmn
