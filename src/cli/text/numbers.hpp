// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/usage_sum.hpp"

namespace hmn::cli {

// Returns "0-3, 5" for ascending numbers.
std::string format_ranges(const std::vector<std::uint32_t>& numbers);

// Formats GiB with one decimal below 1000, "<0.1" for what would round to 0.0, "0" for zero.
std::string format_gib(std::uint64_t bytes);
// Formats them after the mark of a bound: ">=" of what would round to 0.0 is ">0".
std::string format_gib(std::string_view mark, std::uint64_t bytes);

// Returns the value times 10 to the power of `places`, by moving the decimal point of its shortest
// numeral: no digit appears that it did not have, as 1.001 * 1000 = 1000.9999999999999 does.
double move_decimal_point(double value, int places);

struct Tick {
  double value = 0;  // in the value's own unit: bytes, or ns
  std::string label;
};

// Returns about `count` round values from 0 up to the highest, with their unit.
std::vector<Tick> make_byte_ticks(double highest, unsigned count);
// The same with decimal steps: "40 %", "250 W".
std::vector<Tick> make_number_ticks(double highest, unsigned count, const char* unit);
std::vector<Tick> make_time_ticks(double duration_ns, unsigned count);

// Returns the number of decimals that distinguish times `step_s` seconds apart.
int count_decimals(double step_s) noexcept;
// Formats the time since the start: "3.2 s", "4:05", "1:02:03".
std::string format_offset(std::uint64_t offset_ns);
// Formats up to three digits: "1.5 GiB".
std::string format_short_bytes(double bytes);

// Returns whether the row adds up the clients of a kernel driver, which counts a buffer for each
// client that has it.
inline bool counts_buffers(const hypomnesis::usage& row) noexcept {
  using hypomnesis::backend_id;
  return row.backend == backend_id::amdgpu || row.backend == backend_id::i915 ||
         row.backend == backend_id::xe || row.backend == backend_id::drm;
}

// Adds memory of a row, part of which may be shared. All of it may be shared where others
// hold all that the process has, which may be one client of the driver, and where a driver that
// counts buffers does not report which are.
inline void add_usage(UsageSum& sum, const hypomnesis::usage& row, std::uint64_t bytes) noexcept {
  auto shared = row.shared_bytes;
  if (shared.value_or(0) != 0 && *shared >= row.used_bytes.value_or(0)) shared = bytes;
  sum.add(bytes, shared, !counts_buffers(row));
}

// Adds memory of a row that is not counted in its used_bytes.
inline void add_separate_usage(UsageSum& sum, const hypomnesis::usage& row,
                               std::uint64_t bytes) noexcept {
  const bool is_all_shared = row.shared_bytes.value_or(0) >= row.used_bytes.value_or(0);
  if (row.shared_bytes && (*row.shared_bytes == 0 || !is_all_shared))
    sum.add(bytes, 0, true);
  else
    add_usage(sum, row, bytes);
}

}  // namespace hmn::cli
