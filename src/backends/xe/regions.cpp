// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/xe/regions.hpp"

namespace hmn::xe {
namespace {

using intel::heap;
using intel::raw_region;

// struct drm_xe_query_mem_regions: a count and a pad.
constexpr std::size_t header_size = 8;

heap read_region(const raw_region& r) noexcept {
  heap h;
  if (r.size == 0 || r.size == ~std::uint64_t{0}) return h;
  h.total = r.size;
  if (r.figure <= r.size) h.used = r.figure;
  if (r.visible_size == 0 || r.visible_size > r.size) return h;
  h.visible = r.visible_size;
  if (h.used && r.visible_figure <= r.visible_size) h.visible_used = r.visible_figure;
  return h;
}

bool is_idle(const heap& h) noexcept {
  return h.used.value_or(0) == 0;
}

}  // namespace

std::optional<intel::memory_regions> parse_regions(std::span<const std::byte> answer) noexcept {
  auto all = intel::sum_regions(answer, header_size, read_region);
  // Without CAP_PERFMON all figures are 0. With it one is not: the driver's own page tables count.
  if (!all || !is_idle(all->system) || !is_idle(all->device)) return all;
  for (heap* const h : {&all->system, &all->device}) h->used = h->visible_used = std::nullopt;
  return all;
}

}  // namespace hmn::xe
