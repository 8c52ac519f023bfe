// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/kfd.hpp"
#include "fuzz.hpp"

using namespace hmn;

void fuzz(std::string_view input) {
  drm::ComputeNode node;
  const bool is_gpu = kfd::parse_node(input, node);
  promise(!is_gpu || kfd::find_property(input, "simd_count").value_or(0) != 0);
  promise(!is_gpu || kfd::find_property(input, "location_id") == node.location);
  const auto bank = kfd::parse_bank(input);
  promise(!bank || bank == kfd::find_property(input, "size_in_bytes"));
}
