// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/i915/i915.hpp"

#include "backends/shared/intel/driver.hpp"

namespace hmn::i915 {
namespace {

using intel::Gt;
using intel::Heap;
using intel::RawRegion;
using Amount = std::optional<std::uint64_t>;

// struct drm_i915_query_memory_regions: a count and three reserved words.
constexpr std::size_t header_size = 16;
constexpr std::uint64_t unknown = ~std::uint64_t{0};

// Without CAP_PERFMON the kernel reports nothing as allocated.
Amount allocated(std::uint64_t size, std::uint64_t unallocated) noexcept {
  return unallocated < size ? Amount(size - unallocated) : std::nullopt;
}

Heap make_heap(const RawRegion& region) noexcept {
  Heap heap;
  if (region.size == 0 || region.size == unknown) return heap;
  heap.total = region.size;
  heap.used = allocated(region.size, region.amount);
  // 0 before Linux 6.0
  if (region.visible_size == 0 || region.visible_size > region.size) return heap;
  heap.visible = region.visible_size;
  if (heap.used && region.visible_amount <= region.visible_size) {
    heap.visible_used = region.visible_size - region.visible_amount;
  }
  return heap;
}

constexpr std::uint32_t query_memory_regions = 4;

constexpr intel::GtFiles gt_files{"rps_act_freq_mhz",       "rps_cur_freq_mhz",
                                  "rps_max_freq_mhz",       "",
                                  "throttle_reason_status", "throttle_reason_"};
// Files of the whole card: the only ones before Linux 5.18, those of GT 0 since.
constexpr intel::GtFiles card_files{
    "gt_act_freq_mhz", "gt_cur_freq_mhz", "gt_max_freq_mhz", "", "", ""};

// <device>/drm/card0/gt/gt<N>: 0 is the main one, the others are media.
int find_gts(const drm::Card& card, std::vector<Gt>& out) {
  const drm::Node* const node = card.find(drm::Node::Kind::card);
  if (node == nullptr) return 0;
  const std::string card_folder = compose({card.folder.view(), "/drm/", node->name.view()});
  const std::string folder = compose({card_folder, "/gt"});
  const int error = intel::for_each_number(folder, "gt", [&](std::uint32_t number) {
    out.push_back({compose({folder, "/gt", number}), &gt_files, number != 0});
  });
  if (out.empty() && error == 0) out.push_back({card_folder, &card_files, false});
  return error;
}

constexpr intel::DriverTraits traits{
    Source::i915,        "i915", {platform::QueryDriver::i915, query_memory_regions},
    i915::parse_regions, false,  find_gts};

}  // namespace

std::optional<intel::MemoryRegions> parse_regions(std::span<const std::byte> answer) noexcept {
  return intel::sum_regions(answer, header_size, make_heap);
}

}  // namespace hmn::i915

namespace hmn::drm {

std::unique_ptr<Driver> make_i915() {
  return std::make_unique<intel::IntelDriver>(i915::traits);
}

}  // namespace hmn::drm
