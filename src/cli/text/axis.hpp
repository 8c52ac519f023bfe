// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hmn::cli {

struct tick {
  double at = 0;  // in the value's own unit: bytes, or ns
  std::string label;
};

// Returns about `wanted` round values from 0 up to the highest, with their unit.
std::vector<tick> byte_ticks(double highest, unsigned wanted);
// The same with decimal steps: "40 %", "250 W".
std::vector<tick> number_ticks(double highest, unsigned wanted, const char* unit);
std::vector<tick> time_ticks(double longest_ns, unsigned wanted);

// Returns the decimals that distinguish times which are `step_s` seconds apart.
int decimals_of(double step_s) noexcept;
// Formats the time since the start: "3.2 s", "4:05", "1:02:03".
std::string offset_text(std::uint64_t offset_ns);
// Formats up to three digits: "1.5 GiB".
std::string short_bytes(double bytes);

}  // namespace hmn::cli
