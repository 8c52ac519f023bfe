// SPDX-License-Identifier: MIT OR Apache-2.0
#include <bit>

#include "backends/i915/i915.hpp"
#include "backends/shared/intel/chip.hpp"
#include "backends/shared/intel/driver.hpp"
#include "backends/xe/xe.hpp"
#include "fuzz.hpp"

using namespace hmn;

namespace {

void check_heap(const intel::Heap& heap, std::size_t max_regions) {
  promise(heap.region_count <= max_regions);
  promise(heap.region_count != 0 || (!heap.total && !heap.used && !heap.visible));
  promise(!heap.used || !heap.total || *heap.used <= *heap.total);
  promise(!heap.visible || !heap.total || *heap.visible <= *heap.total);
  promise(!heap.visible_used || !heap.visible || *heap.visible_used <= *heap.visible);
}

void check_regions(const std::optional<intel::MemoryRegions>& regions, std::size_t bytes) {
  if (!regions) return;
  const std::size_t max_regions = bytes / sizeof(intel::RawRegion);
  promise(max_regions != 0);
  promise(regions->system.region_count + regions->device.region_count <= max_regions);
  check_heap(regions->system, max_regions);
  check_heap(regions->device, max_regions);
}

}  // namespace

void fuzz(std::string_view input) {
  const std::span bytes(reinterpret_cast<const std::byte*>(input.data()), input.size());
  check_regions(i915::parse_regions(bytes), input.size());
  check_regions(xe::parse_regions(bytes), input.size());
  const auto file = intel::parse_chip_file(input);
  promise(!file ||
          (file->number < 1000 && intel::convert_value({file->quantity, intel::SensorLocation::card,
                                                        file->number, 1}) > 0));
  for (const auto quantity : {intel::Quantity::temperature, intel::Quantity::energy}) {
    promise(intel::parse_label(quantity, input) <= intel::SensorLocation::other);
  }
  promise(std::popcount(intel::convert_throttle_reason(input)) == 1);
}
