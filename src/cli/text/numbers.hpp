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
std::string ranges_text(const std::vector<std::uint32_t>& numbers);

// Returns GiB with one decimal below 1000, "<0.1" for less than that would show, "0" for none.
std::string gib_text(std::uint64_t bytes);
// Returns it after the mark of a bound: ">=" of less than would show is ">0".
std::string gib_text(std::string_view mark, std::uint64_t bytes);

// Returns the value times 10 to the power of `places`, by moving the decimal point of its shortest
// numeral: no digit appears that it did not have, as 1.001 * 1000 = 1000.9999999999999 does.
double move_decimal_point(double value, int places);

struct Tick {
  double at = 0;  // in the value's own unit: bytes, or ns
  std::string label;
};

// Returns about `wanted` round values from 0 up to the highest, with their unit.
std::vector<Tick> byte_ticks(double highest, unsigned wanted);
// The same with decimal steps: "40 %", "250 W".
std::vector<Tick> number_ticks(double highest, unsigned wanted, const char* unit);
std::vector<Tick> time_ticks(double longest_ns, unsigned wanted);

// Returns the decimals that distinguish times which are `step_s` seconds apart.
int decimals_of(double step_s) noexcept;
// Formats the time since the start: "3.2 s", "4:05", "1:02:03".
std::string offset_text(std::uint64_t offset_ns);
// Formats up to three digits: "1.5 GiB".
std::string short_bytes(double bytes);

// Returns whether the row adds up the clients of a kernel driver, which counts a buffer for each
// client that has it.
inline bool counts_buffers(const hypomnesis::usage& row) noexcept {
  using hypomnesis::backend_id;
  return row.backend == backend_id::amdgpu || row.backend == backend_id::i915 ||
         row.backend == backend_id::xe || row.backend == backend_id::drm;
}

// Adds memory of a row of which `shared_bytes` are a part. All of it may be shared where others
// hold all that the process has, which may be one client of the driver, and where a driver that
// counts buffers does not report which are.
inline void add_usage(UsageSum& to, const hypomnesis::usage& row, std::uint64_t bytes) noexcept {
  auto shared = row.shared_bytes;
  if (shared.value_or(0) != 0 && *shared >= row.used_bytes.value_or(0)) shared = bytes;
  to.add(bytes, shared, !counts_buffers(row));
}

// Adds memory of a row that is apart from what it uses of the device.
inline void add_apart(UsageSum& to, const hypomnesis::usage& row, std::uint64_t bytes) noexcept {
  const bool is_all_held = row.shared_bytes.value_or(0) >= row.used_bytes.value_or(0);
  if (row.shared_bytes && (*row.shared_bytes == 0 || !is_all_held))
    to.add(bytes, 0, true);
  else
    add_usage(to, row, bytes);
}

}  // namespace hmn::cli
