// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/i915/regions.hpp"

namespace hmn::i915 {
namespace {

using intel::heap;
using intel::raw_region;
using figure = std::optional<std::uint64_t>;

// struct drm_i915_query_memory_regions: a count and three reserved words.
constexpr std::size_t header_size = 16;
constexpr std::uint64_t unknown = ~std::uint64_t{0};

// Without CAP_PERFMON nothing seems to be allocated.
figure allocated(std::uint64_t size, std::uint64_t unallocated) noexcept {
  return unallocated < size ? figure(size - unallocated) : std::nullopt;
}

heap read_region(const raw_region& r) noexcept {
  heap h;
  if (r.size == 0 || r.size == unknown) return h;
  h.total = r.size;
  h.used = allocated(r.size, r.figure);
  // 0 before Linux 6.0
  if (r.visible_size == 0 || r.visible_size > r.size) return h;
  h.visible = r.visible_size;
  if (h.used && r.visible_figure <= r.visible_size) {
    h.visible_used = r.visible_size - r.visible_figure;
  }
  return h;
}

}  // namespace

std::optional<intel::memory_regions> parse_regions(std::span<const std::byte> answer) noexcept {
  return intel::sum_regions(answer, header_size, read_region);
}

}  // namespace hmn::i915
