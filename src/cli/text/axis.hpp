// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hmn::cli {

struct tick {
  double at = 0;  // in the figure's own unit: bytes, or ns
  std::string label;
};

// About `wanted` round values from 0 to where the highest one still fits, with their unit.
std::vector<tick> byte_ticks(double highest, unsigned wanted);
std::vector<tick> time_ticks(double longest_ns, unsigned wanted);

// "3.2 s", "4:05", "1:02:03": time since the start.
std::string offset_text(std::uint64_t offset_ns);
// "1.5 GiB": a figure with up to three digits.
std::string short_bytes(double bytes);

}  // namespace hmn::cli
