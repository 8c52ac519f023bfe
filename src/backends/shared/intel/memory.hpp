// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hmn::intel {

// The drivers' answers to queries of memory regions, in a common form.

// Total bytes of all regions of one class; a value that one of them lacks is absent.
struct Heap {
  std::uint32_t region_count = 0;
  std::optional<std::uint64_t> total;
  std::optional<std::uint64_t> used;     // absent also if the kernel hides it from this caller
  std::optional<std::uint64_t> visible;  // host-visible part
  std::optional<std::uint64_t> visible_used;

  void add(const Heap& heap) noexcept;
};

struct MemoryRegions {
  Heap system;
  Heap device;  // all tiles
  static constexpr std::size_t max_tiles = 4;
  std::array<Heap, max_tiles> tiles;
};

// A region in the layout of both drivers; `amount` has two meanings.
struct RawRegion {
  std::uint16_t memory_class = 0;  // 0: system, 1: device
  std::uint16_t instance = 0;
  std::uint32_t page_size = 0;
  std::uint64_t size = 0;
  std::uint64_t amount = 0;  // i915: unallocated; xe: used
  std::uint64_t visible_size = 0;
  std::uint64_t visible_amount = 0;
  std::uint64_t reserved[6] = {};
};
static_assert(sizeof(RawRegion) == 88 && offsetof(RawRegion, size) == 8 &&
              offsetof(RawRegion, amount) == 16 && offsetof(RawRegion, visible_size) == 24 &&
              offsetof(RawRegion, visible_amount) == 32);

// Parses a 32-bit count, and regions after `header_size` bytes. Returns nothing if the count is 0
// or regions are missing.
std::optional<MemoryRegions> sum_regions(std::span<const std::byte> answer, std::size_t header_size,
                                         Heap (*make_heap)(const RawRegion&)) noexcept;

// Clears how much memory is in use, and keeps the sizes.
void clear_used(MemoryRegions& regions) noexcept;

}  // namespace hmn::intel
