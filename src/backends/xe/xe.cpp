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

Heap read_region(const RawRegion& r) noexcept {
  Heap h;
  if (r.size == 0 || r.size == ~std::uint64_t{0}) return h;
  h.total = r.size;
  if (r.amount <= r.size) h.used = r.amount;
  if (r.visible_size == 0 || r.visible_size > r.size) return h;
  h.visible = r.visible_size;
  if (h.used && r.visible_amount <= r.visible_size) h.visible_used = r.visible_amount;
  return h;
}

bool is_idle(const Heap& h) noexcept {
  return h.used.value_or(0) == 0;
}

constexpr std::uint32_t query_mem_regions = 1;

constexpr intel::GtFiles in_freq{"act_freq",  "cur_freq", "max_freq",
                                 "/throttle", "status",   "reason_"};

// <device>/tile<T>/gt<N>/freq0: the first of a tile is its main one, the others are media.
int find_gts(const drm::Card& c, std::vector<Gt>& out) {
  int failed = 0;
  const auto each_tile = [&](std::uint32_t tile) {
    const std::string folder = compose({c.folder.view(), "/tile", tile});
    bool is_media = false;
    const int error = intel::each_number(folder, "gt", [&](std::uint32_t number) {
      out.push_back({compose({folder, "/gt", number, "/freq0"}), &in_freq, is_media});
      is_media = true;
    });
    if (error != 0) failed = error;
  };
  const int error = intel::each_number(std::string(c.folder.view()), "tile", each_tile);
  return failed != 0 ? failed : error;
}

constexpr intel::Dialect spoken{
    Source::xe,        "xe", {platform::QueryLanguage::xe, query_mem_regions},
    xe::parse_regions, true, find_gts};

}  // namespace

std::optional<intel::MemoryRegions> parse_regions(std::span<const std::byte> answer) noexcept {
  auto all = intel::sum_regions(answer, header_size, read_region);
  // Without CAP_PERFMON all values are 0. With it some are not, since the driver's own page tables
  // count.
  if (!all || !is_idle(all->system) || !is_idle(all->device)) return all;
  intel::forget_used(*all);
  return all;
}

}  // namespace hmn::xe

namespace hmn::drm {

std::unique_ptr<Driver> make_xe() {
  return std::make_unique<intel::IntelDriver>(xe::spoken);
}

}  // namespace hmn::drm
