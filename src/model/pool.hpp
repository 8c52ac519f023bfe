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

enum class pool_kind : std::uint32_t {
  main = 0,  // asked for, never answered
  vram = 1,
  vram_visible = 2,
  host = 3,
  unified = 4,
  stolen = 5,
};

// Presence bits of the C interface; src/api asserts it.
namespace pool_field {
inline constexpr std::uint32_t total = 1U << 0;
inline constexpr std::uint32_t free = 1U << 1;
inline constexpr std::uint32_t used = 1U << 2;
inline constexpr std::uint32_t reserved = 1U << 3;
inline constexpr std::uint32_t budget = 1U << 5;
inline constexpr std::uint32_t unattributed = 1U << 6;
}  // namespace pool_field

// One memory pool of a device, in bytes.
struct pool {
  pool_kind kind = pool_kind::vram;
  source from = source::none;
  std::uint32_t notes = 0;
  hmn::accounting accounting = hmn::accounting::none;
  bool is_main = false;
  std::optional<std::uint64_t> total;
  std::optional<std::uint64_t> free;
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> reserved;
  std::optional<std::uint64_t> usable;
  std::optional<std::uint64_t> budget;
  std::optional<std::uint64_t> unattributed;
};

// The pools of one device, the main one first; no allocation.
class pools {
 public:
  static constexpr std::size_t most = 5;

  void clear() noexcept { count_ = 0; }
  void add(const pool& p) noexcept {
    if (count_ < entries_.size()) entries_[count_++] = p;
  }
  [[nodiscard]] std::span<pool> all() noexcept { return {entries_.data(), count_}; }
  [[nodiscard]] std::span<const pool> all() const noexcept { return {entries_.data(), count_}; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  // `kind` main finds the pool that allocations come from.
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
