// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/xe/xe.hpp"

#include "backends/shared/intel/driver.hpp"

namespace hmn::xe {
namespace {

using intel::Gt;
using intel::Heap;
using intel::RawRegion;

// struct drm_xe_query_mem_regions: a count and padding.
constexpr std::size_t header_size = 8;

Heap make_heap(const RawRegion& region) noexcept {
  Heap heap;
  if (region.size == 0 || region.size == ~std::uint64_t{0}) return heap;
  heap.total = region.size;
  if (region.amount <= region.size) heap.used = region.amount;
  if (region.visible_size == 0 || region.visible_size > region.size) return heap;
  heap.visible = region.visible_size;
  if (heap.used && region.visible_amount <= region.visible_size)
    heap.visible_used = region.visible_amount;
  return heap;
}

bool is_idle(const Heap& heap) noexcept {
  return heap.used.value_or(0) == 0;
}

constexpr std::uint32_t query_mem_regions = 1;

constexpr intel::GtFiles freq_files{"act_freq",  "cur_freq", "max_freq",
                                    "/throttle", "status",   "reason_"};

// <device>/tile<T>/gt<N>/freq0: the first of a tile is its main one, the others are media.
int find_gts(const drm::Card& card, std::vector<Gt>& out) {
  int last_error = 0;
  const auto add_tile = [&](std::uint32_t tile) {
    const std::string folder = compose({card.folder.view(), "/tile", tile});
    bool is_media = false;
    const int error = intel::for_each_number(folder, "gt", [&](std::uint32_t number) {
      out.push_back({compose({folder, "/gt", number, "/freq0"}), &freq_files, is_media});
      is_media = true;
    });
    if (error != 0) last_error = error;
  };
  const int error = intel::for_each_number(std::string(card.folder.view()), "tile", add_tile);
  return last_error != 0 ? last_error : error;
}

constexpr intel::DriverTraits traits{
    Source::xe,        "xe", {platform::QueryDriver::xe, query_mem_regions},
    xe::parse_regions, true, find_gts};

}  // namespace

std::optional<intel::MemoryRegions> parse_regions(std::span<const std::byte> answer) noexcept {
  auto regions = intel::sum_regions(answer, header_size, make_heap);
  // Without CAP_PERFMON all values are 0. With it some are not, since the driver's own page tables
  // count.
  if (!regions || !is_idle(regions->system) || !is_idle(regions->device)) return regions;
  intel::clear_used(*regions);
  return regions;
}

}  // namespace hmn::xe

namespace hmn::drm {

std::unique_ptr<Driver> make_xe() {
  return std::make_unique<intel::IntelDriver>(xe::traits);
}

}  // namespace hmn::drm
