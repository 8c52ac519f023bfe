// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/wddm/counters.hpp"

#include <algorithm>

namespace hmn::wddm {

void SegmentSum::add(std::optional<std::uint64_t> part) noexcept {
  if (!part) {
    is_incomplete_ = true;
    return;
  }
  std::uint64_t sum = 0;
  const bool fits = !__builtin_add_overflow(bytes_.value_or(0), *part, &sum);
  if (fits) bytes_ = sum;
  is_incomplete_ = is_incomplete_ || !fits;
}

std::optional<double> AdapterLoad::busiest_percent() const noexcept {
  return *std::max_element(percent.begin(), percent.end());
}

}  // namespace hmn::wddm
