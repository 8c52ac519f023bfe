// SPDX-License-Identifier: MIT OR Apache-2.0
#include <bit>

#include "backends/i915/i915.hpp"
#include "backends/shared/intel/chip.hpp"
#include "backends/shared/intel/driver.hpp"
#include "backends/xe/xe.hpp"
#include "fuzz.hpp"

using namespace hmn;

namespace {

void check_heap(const intel::Heap& h, std::size_t most) {
  promise(h.regions <= most);
  promise(h.regions != 0 || (!h.total && !h.used && !h.visible));
  promise(!h.used || !h.total || *h.used <= *h.total);
  promise(!h.visible || !h.total || *h.visible <= *h.total);
  promise(!h.visible_used || !h.visible || *h.visible_used <= *h.visible);
}

void check_regions(const std::optional<intel::MemoryRegions>& reported, std::size_t bytes) {
  if (!reported) return;
  const std::size_t most = bytes / sizeof(intel::RawRegion);
  promise(most != 0);
  promise(reported->system.regions + reported->device.regions <= most);
  check_heap(reported->system, most);
  check_heap(reported->device, most);
}

}  // namespace

void fuzz(std::string_view input) {
  const std::span bytes(reinterpret_cast<const std::byte*>(input.data()), input.size());
  check_regions(i915::parse_regions(bytes), input.size());
  check_regions(xe::parse_regions(bytes), input.size());
  const auto file = intel::parse_chip_file(input);
  promise(!file || (file->number < 1000 &&
                    intel::value_of({file->what, intel::Place::card, file->number, 1}) > 0));
  for (const auto what : {intel::Quantity::temperature, intel::Quantity::energy}) {
    promise(intel::parse_label(what, input) <= intel::Place::other);
  }
  promise(std::popcount(intel::throttle_bit(input)) == 1);
}
