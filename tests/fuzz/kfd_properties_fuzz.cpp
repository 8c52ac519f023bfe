// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/kfd.hpp"
#include "fuzz.hpp"

using namespace hmn;

void fuzz(std::string_view input) {
  drm::ComputeNode n;
  const bool is_gpu = kfd::parse_node(input, n);
  promise(!is_gpu || kfd::property(input, "simd_count").value_or(0) != 0);
  promise(!is_gpu || kfd::property(input, "location_id") == n.location);
  const auto bank = kfd::parse_bank(input);
  promise(!bank || bank == kfd::property(input, "size_in_bytes"));
}
